// Linux calls that the Glibc module leaves out. _GNU_SOURCE itself would give fd_set another shape
// than the Glibc module has, so what it hides is declared here.
#pragma once
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <arpa/inet.h>
#include <netdb.h>
#include <unistd.h>

extern int pthread_setname_np(pthread_t, const char *);
static inline void lockstep_name_this_thread(const char *name) {
  pthread_setname_np(pthread_self(), name);
}

// Same as accept4(2) with SOCK_NONBLOCK | SOCK_CLOEXEC; the Glibc module hides accept4.
extern int accept4(int, struct sockaddr *, socklen_t *, int);
static inline int lockstep_accept_nonblocking(int listener) {
  return accept4(listener, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC);
}
