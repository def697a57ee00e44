// librabbitmq 0.11, with functions for what Swift cannot import.
#pragma once
#include <sys/time.h>
#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#include <amqp_ssl_socket.h>

// The login is variadic. One channel a connection is used, and never more than that asked for.
static inline amqp_rpc_reply_t lockstep_amqp_login_plain(
    amqp_connection_state_t connection, const char *virtual_host, int frame_max_bytes,
    int heartbeat_seconds, const amqp_table_t *properties, const char *user,
    const char *password) {
  return amqp_login_with_properties(connection, virtual_host, 1, frame_max_bytes,
                                    heartbeat_seconds, properties, AMQP_SASL_METHOD_PLAIN, user,
                                    password);
}
