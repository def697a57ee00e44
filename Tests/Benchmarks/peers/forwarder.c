// The ceiling of Tests/Benchmarks/workers: librabbitmq and nothing else. Takes a message, publishes
// two, waits for the confirms of a whole window, acknowledges it in one frame.
//
//   forwarder PORT VHOST QUEUE EXCHANGE KEY WINDOW MESSAGES BODY_BYTES
//
// Prints one line of JSON. Build: cc -O2 forwarder.c -lrabbitmq
#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static void must(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "forwarder: %s\n", what);
  exit(1);
}

static amqp_connection_state_t open_connection(int port, const char *vhost) {
  amqp_connection_state_t state = amqp_new_connection();
  amqp_socket_t *socket = amqp_tcp_socket_new(state);
  must(socket && amqp_socket_open(socket, "127.0.0.1", port) == 0, "no connection");
  must(amqp_login(state, vhost, 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest").reply_type ==
           AMQP_RESPONSE_NORMAL, "no login");
  must(amqp_channel_open(state, 1) != NULL, "no channel");
  return state;
}

static double seconds(struct timeval time) { return time.tv_sec + time.tv_usec / 1e6; }

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

// Until the broker has confirmed everything up to `last`.
static void await_confirms(amqp_connection_state_t out, uint64_t *confirmed, uint64_t last) {
  while (*confirmed < last) {
    amqp_frame_t frame;
    must(amqp_simple_wait_frame(out, &frame) == AMQP_STATUS_OK, "no confirm");
    must(frame.frame_type == AMQP_FRAME_METHOD &&
             frame.payload.method.id == AMQP_BASIC_ACK_METHOD, "refused");
    amqp_basic_ack_t *ack = frame.payload.method.decoded;
    // A single one may come out of order; within a window only their number counts.
    *confirmed = ack->multiple ? (ack->delivery_tag > *confirmed ? ack->delivery_tag : *confirmed)
                               : *confirmed + 1;
    amqp_maybe_release_buffers(out);
  }
}

int main(int count, char **words) {
  must(count == 9, "wanted: PORT VHOST QUEUE EXCHANGE KEY WINDOW MESSAGES BODY_BYTES");
  int port = atoi(words[1]), window = atoi(words[6]), messages = atoi(words[7]);
  size_t size = atoi(words[8]);
  amqp_connection_state_t in = open_connection(port, words[2]), out = open_connection(port, words[2]);
  amqp_confirm_select(out, 1);
  amqp_basic_qos(in, 1, 0, window, 0);
  amqp_basic_consume(in, 1, amqp_cstring_bytes(words[3]), amqp_empty_bytes, 0, 0, 0, amqp_empty_table);
  must(amqp_get_rpc_reply(in).reply_type == AMQP_RESPONSE_NORMAL, "no consumer");

  amqp_bytes_t body = {size, malloc(size)};
  memset(body.bytes, 'x', size);
  amqp_basic_properties_t properties = {0};
  properties._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_CONTENT_TYPE_FLAG |
                      AMQP_BASIC_MESSAGE_ID_FLAG;
  properties.delivery_mode = 2;
  properties.content_type = amqp_cstring_bytes("application/json");

  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  double begun = now();
  uint64_t published = 0, confirmed = 0, newest = 0;
  int taken = 0, unacknowledged = 0;
  while (taken < messages) {
    struct timeval limit = {0, unacknowledged ? 0 : 100000};
    amqp_envelope_t envelope;
    amqp_rpc_reply_t reply = amqp_consume_message(in, &envelope, &limit, 0);
    int came = reply.reply_type == AMQP_RESPONSE_NORMAL;
    if (came) {
      newest = envelope.delivery_tag;
      properties.message_id = envelope.message.properties.message_id;
      for (int copy = 0; copy < 2; copy++, published++)
        must(amqp_basic_publish(out, 1, amqp_cstring_bytes(words[4]), amqp_cstring_bytes(words[5]), 1,
                                0, &properties, body) == AMQP_STATUS_OK, "not published");
      amqp_destroy_envelope(&envelope);
      taken++, unacknowledged++;
    } else {
      must(reply.library_error == AMQP_STATUS_TIMEOUT, "the connection is lost");
    }
    if (unacknowledged && (!came || unacknowledged == window || taken == messages)) {
      await_confirms(out, &confirmed, published);
      must(amqp_basic_ack(in, 1, newest, 1) == AMQP_STATUS_OK, "not acknowledged");
      amqp_maybe_release_buffers(in);
      unacknowledged = 0;
    }
  }
  double took = now() - begun;
  getrusage(RUSAGE_SELF, &after);
  double cpu = seconds(after.ru_utime) + seconds(after.ru_stime) - seconds(before.ru_utime) -
               seconds(before.ru_stime);
  printf("{\"name\":\"forwarder\",\"messages\":%d,\"seconds\":%.2f,\"per_second\":%.2f,"
         "\"cpu_us_per_message\":%.2f,\"resident_most_mib\":%.1f}\n",
         messages, took, messages / took, cpu * 1e6 / messages, after.ru_maxrss / 1024.0);
  amqp_connection_close(in, AMQP_REPLY_SUCCESS);
  return 0;
}
