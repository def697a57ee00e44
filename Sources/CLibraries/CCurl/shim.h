// libcurl, with functions for its variadic calls.
#pragma once
#include <curl/curl.h>

static inline CURLcode lockstep_curl_set_number(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

// libcurl copies the text.
static inline CURLcode lockstep_curl_set_text(CURL *handle, CURLoption option, const char *text) {
  return curl_easy_setopt(handle, option, text);
}

static inline CURLcode lockstep_curl_set_pointer(CURL *handle, CURLoption option, void *pointer) {
  return curl_easy_setopt(handle, option, pointer);
}

static inline CURLcode lockstep_curl_set_size(CURL *handle, CURLoption option, curl_off_t size) {
  return curl_easy_setopt(handle, option, size);
}

typedef size_t (*lockstep_curl_write)(char *, size_t, size_t, void *);
static inline CURLcode lockstep_curl_set_write(
    CURL *handle, CURLoption option, lockstep_curl_write write) {
  return curl_easy_setopt(handle, option, write);
}

static inline long lockstep_curl_status(CURL *handle) {
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

static inline const char *lockstep_curl_header(CURL *handle, const char *name) {
  struct curl_header *field = 0;
  return curl_easy_header(handle, name, 0, CURLH_HEADER, -1, &field) == CURLHE_OK ? field->value : 0;
}

// Of a finished transfer, the pointer that was set with CURLOPT_PRIVATE.
static inline void *lockstep_curl_private(CURL *handle) {
  char *pointer = 0;
  curl_easy_getinfo(handle, CURLINFO_PRIVATE, &pointer);
  return pointer;
}

static inline CURLcode lockstep_curl_message_code(const CURLMsg *message) {
  return message->data.result;
}

// The types of the callbacks are written out: libcurl's own are imported without nullability.
typedef curl_socket_t (*lockstep_curl_open)(void *, curlsocktype, struct curl_sockaddr *);
static inline CURLcode lockstep_curl_set_open(
    CURL *handle, lockstep_curl_open open, void *context) {
  curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, context);
  return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, open);
}

static inline CURLMcode lockstep_curl_multi_set_number(
    CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

typedef int (*lockstep_curl_watch)(CURL *, curl_socket_t, int, void *, void *);
typedef int (*lockstep_curl_timer)(CURLM *, long, void *);
static inline void lockstep_curl_multi_set_watch(
    CURLM *multi, lockstep_curl_watch watch, lockstep_curl_timer timer, void *context) {
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
}

// The address of a curl_sockaddr, which holds any family.
static inline const struct sockaddr *lockstep_curl_address(const struct curl_sockaddr *address) {
  return &address->addr;
}
