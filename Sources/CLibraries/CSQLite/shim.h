// SQLite, with a function for what Swift cannot import.
#pragma once
#include <sqlite3.h>

// The call is variadic. Without the statistics no lock is taken at each of SQLite's allocations, of
// which a statement makes a dozen. SQLite refuses it once a database was opened.
static inline int lockstep_sqlite_count_no_memory(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
