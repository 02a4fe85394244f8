#pragma once

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <string>

/// All functions of OpenSSL that rlock calls, including those behind OpenSSL's macros. If one is missing
/// here, the linker reports it in a build that loads OpenSSL.
#define RLOCK_OPENSSL_FUNCTIONS(FUNCTION)          \
  FUNCTION(BIO_ctrl)                               \
  FUNCTION(BIO_new)                                \
  FUNCTION(BIO_s_mem)                              \
  FUNCTION(BIO_write)                              \
  FUNCTION(ERR_clear_error)                        \
  FUNCTION(ERR_get_error)                          \
  FUNCTION(ERR_peek_error)                         \
  FUNCTION(ERR_reason_error_string)                \
  FUNCTION(OpenSSL_version)                        \
  FUNCTION(SSL_CTX_check_private_key)              \
  FUNCTION(SSL_CTX_ctrl)                           \
  FUNCTION(SSL_CTX_free)                           \
  FUNCTION(SSL_CTX_load_verify_dir)                \
  FUNCTION(SSL_CTX_load_verify_file)               \
  FUNCTION(SSL_CTX_new)                            \
  FUNCTION(SSL_CTX_set_default_passwd_cb)          \
  FUNCTION(SSL_CTX_set_default_passwd_cb_userdata) \
  FUNCTION(SSL_CTX_set_default_verify_paths)       \
  FUNCTION(SSL_CTX_set_options)                    \
  FUNCTION(SSL_CTX_set_verify)                     \
  FUNCTION(SSL_CTX_use_PrivateKey_file)            \
  FUNCTION(SSL_CTX_use_certificate_chain_file)     \
  FUNCTION(SSL_ctrl)                               \
  FUNCTION(SSL_do_handshake)                       \
  FUNCTION(SSL_free)                               \
  FUNCTION(SSL_get0_param)                         \
  FUNCTION(SSL_get_error)                          \
  FUNCTION(SSL_get_rbio)                           \
  FUNCTION(SSL_get_verify_result)                  \
  FUNCTION(SSL_get_wbio)                           \
  FUNCTION(SSL_new)                                \
  FUNCTION(SSL_read)                               \
  FUNCTION(SSL_set1_host)                          \
  FUNCTION(SSL_set_bio)                            \
  FUNCTION(SSL_set_connect_state)                  \
  FUNCTION(SSL_set_hostflags)                      \
  FUNCTION(SSL_write)                              \
  FUNCTION(TLS_client_method)                      \
  FUNCTION(X509_VERIFY_PARAM_set1_ip_asc)          \
  FUNCTION(X509_verify_cert_error_string)

/// OpenSSL's functions under their own names, as pointers. tls_library_loaded.cpp fills them from the
/// system's library when TLS is first needed. Most runs need no TLS, and with OpenSSL linked in they took a
/// sixth longer. tls_library_linked.cpp replaces that file (RLOCK_LINK_OPENSSL) for binaries that must run
/// anywhere.
namespace rlock::openssl {

#define RLOCK_DECLARE(name) \
  extern decltype(&::name) name;        // NOLINT(bugprone-macro-parentheses): g++ forbids them
RLOCK_OPENSSL_FUNCTIONS(RLOCK_DECLARE)  // NOLINT(readability-identifier-naming): OpenSSL's names
#undef RLOCK_DECLARE

/// Makes the functions usable. Call it before any of them, as often as you like. Throws Error{unreachable}
/// that names the package to install.
void load();

/// Is OpenSSL linked into the binary? Then it does not know where this system keeps its trusted certificates.
bool linked() noexcept;

/// Loads OpenSSL from a library with another name. There is no such function if OpenSSL is linked in.
void load_from(const std::string& library);

}  // namespace rlock::openssl
