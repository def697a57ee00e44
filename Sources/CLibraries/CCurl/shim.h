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
