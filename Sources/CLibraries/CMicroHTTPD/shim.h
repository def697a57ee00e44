// libmicrohttpd, with functions for what Swift cannot import.
#pragma once
#include <microhttpd.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <netinet/in.h>

typedef void *(*lockstep_uri_callback)(void *, const char *, struct MHD_Connection *);

// MHD_start_daemon is variadic. A pool of one thread is not a pool to the library: the option list
// ends before it.
static inline struct MHD_Daemon *lockstep_start_daemon(
    unsigned int flags, int listener, unsigned int threads, unsigned int connections_max,
    unsigned int idle_seconds_max, size_t memory_bytes, MHD_AccessHandlerCallback handle,
    lockstep_uri_callback begun, MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback connection, void *context) {
  return MHD_start_daemon(
      flags, 0, NULL, NULL, handle, context,
      MHD_OPTION_LISTEN_SOCKET, (MHD_socket)listener,
      MHD_OPTION_CONNECTION_LIMIT, connections_max,
      MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds_max,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory_bytes,
      MHD_OPTION_NOTIFY_COMPLETED, completed, context,
      MHD_OPTION_NOTIFY_CONNECTION, connection, context,
      MHD_OPTION_URI_LOG_CALLBACK, begun, context,
      threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, threads,
      MHD_OPTION_END);
}

static inline int lockstep_connection_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

// What the notify callback put into its socket_context.
static inline void *lockstep_connection_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

static inline const struct sockaddr *lockstep_connection_peer(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info ? info->client_addr : NULL;
}

// Octets of the request line and the header fields.
static inline size_t lockstep_connection_header_bytes(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info ? info->header_size : 0;
}

static inline void lockstep_connection_never_idle(struct MHD_Connection *connection) {
  MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
}

// Octets that came in on a TCP socket since it was opened: tcpi_bytes_received, at octet 128 of the
// kernel's struct tcp_info since Linux 4.1 (include/uapi/linux/tcp.h); the C library's own struct
// ends before it. 0 when the kernel does not tell.
static inline uint64_t lockstep_bytes_received(int socket) {
  unsigned char info[256];
  socklen_t length = sizeof info;
  uint64_t received = 0;
  if (getsockopt(socket, IPPROTO_TCP, 11 /* TCP_INFO */, info, &length) == 0 && length >= 136)
    memcpy(&received, info + 128, sizeof received);
  return received;
}
