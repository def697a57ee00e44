// OpenSSL, with functions for the macros that Swift cannot import.
#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// TLS: macros over SSL_CTX_ctrl and SSL_ctrl.
static inline void lockstep_tls_prepare(SSL_CTX *context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);
}
static inline long lockstep_tls_set_server_name(SSL *connection, const char *name) {
  return SSL_set_tlsext_host_name(connection, (void *)name);
}
static inline EVP_PKEY *lockstep_tls_make_p256_key(void) { return EVP_EC_gen("P-256"); }

// Macros of libcrypto that are not imported.
static inline EVP_PKEY *lockstep_generate_p256(void) { return EVP_EC_gen("P-256"); }
static inline EVP_PKEY *lockstep_generate_rsa(size_t bits) { return EVP_RSA_gen(bits); }
static inline void lockstep_free(void *pointer) { OPENSSL_free(pointer); }
static inline long lockstep_bio_memory(BIO *bio, char **start) {
  return BIO_get_mem_data(bio, start);
}

// A public key from its parts. In C because the builder keeps the pointers to names and text that
// it is given; a String passed from Swift is gone by the time they are read.
static inline EVP_PKEY *lockstep_build_public_key(const char *type, OSSL_PARAM_BLD *builder) {
  OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
  EVP_PKEY *key = NULL;
  if (parameters && context && EVP_PKEY_fromdata_init(context) == 1)
    EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters);
  EVP_PKEY_CTX_free(context);
  OSSL_PARAM_free(parameters);
  return key;
}
static inline EVP_PKEY *lockstep_p256_public_key(const unsigned char *point, size_t length) {
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  EVP_PKEY *key = NULL;
  if (builder
      && OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) == 1
      && OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, length) == 1)
    key = lockstep_build_public_key("EC", builder);
  OSSL_PARAM_BLD_free(builder);
  return key;
}
static inline EVP_PKEY *lockstep_rsa_public_key(const BIGNUM *n, const BIGNUM *e) {
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  EVP_PKEY *key = NULL;
  if (builder && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1
      && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1)
    key = lockstep_build_public_key("RSA", builder);
  OSSL_PARAM_BLD_free(builder);
  return key;
}
static inline EVP_PKEY *lockstep_p256_private_key(
    const unsigned char *point, size_t length, const BIGNUM *scalar) {
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  EVP_PKEY *key = NULL;
  OSSL_PARAM *parameters = NULL;
  EVP_PKEY_CTX *context = NULL;
  if (builder
      && OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) == 1
      && OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, length) == 1
      && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, scalar) == 1
      && (parameters = OSSL_PARAM_BLD_to_param(builder))
      && (context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL))
      && EVP_PKEY_fromdata_init(context) == 1)
    EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters);
  EVP_PKEY_CTX_free(context);
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(builder);
  return key;
}
