// libpq, with functions for what Swift cannot import.
#pragma once
#include <libpq-fe.h>

// The fields' names are character macros.
static inline const char *lockstep_pq_state(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

static inline const char *lockstep_pq_message(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
}
