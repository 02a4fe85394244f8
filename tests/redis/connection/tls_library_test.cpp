#include "redis/connection/tls_library.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "support/contains.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// The message that a user gets when OpenSSL is searched in that library.
std::string told_of(const std::string& library) {
  try {
    openssl::load_from(library);
  } catch (const Error& error) {
    CHECK(error.kind() == Error::unreachable);
    return error.what();
  }
  return "loaded";
}

}  // namespace

TEST_CASE("if OpenSSL is missing, the message names TLS's needs and the package") {
  CHECK(told_of("libssl.so.none") ==
        "TLS needs OpenSSL 3 (libssl.so.none: cannot open shared object file: No such file or directory); "
        "install the package libssl3, or openssl");
}

TEST_CASE(
    "a library that lacks a function of OpenSSL is refused, and the functions that were loaded before stay") {
  openssl::load();
  const auto before = openssl::SSL_CTX_new;
  CHECK((before != nullptr));
  CHECK(contains(told_of("libc.so.6"), "undefined symbol: BIO_ctrl"));
  CHECK((openssl::SSL_CTX_new == before));
}
