#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "redis/connection/target.h"
#include "redis/failure.h"

struct ssl_ctx_st;
struct ssl_st;

namespace rlock {

/// The trusted certificates and our own certificate, read once, for TLS 1.2 or newer. Without TLS there is no
/// context, and OpenSSL is not loaded.
class TlsContext {
 public:
  /// Throws Error{config} for files that are missing, unreadable or of the wrong kind, and for a key with a
  /// passphrase. Throws Error{unreachable} if OpenSSL is not installed. Warns if nothing will be verified.
  explicit TlsContext(const Tls& tls);

  const Tls& options() const noexcept { return tls_; }
  ssl_ctx_st* handle() const noexcept { return context_.get(); }

  /// Neither the user nor this machine names trusted certificates.
  bool trusts_nobody() const noexcept { return trusts_nobody_; }

 private:
  void trust();
  void trust_system();
  void identify() const;

  struct Free {
    void operator()(ssl_ctx_st* context) const noexcept;
  };
  const Tls tls_;
  std::unique_ptr<ssl_ctx_st, Free> context_;
  bool trusts_nobody_ = false;
};

/// The version of the OpenSSL that TLS uses: "3.5.7". Throws Error{unreachable} if none is installed.
std::string tls_library_version();

/// The context for these settings; null if TLS is off.
std::shared_ptr<const TlsContext> tls_context(const Tls& tls);

/// Our end of a TLS session. It knows no socket: bytes go in and come out. Unless --insecure was given, it encrypts
/// nothing before the server has proved by a trusted chain that it is `host` (or Tls::sni). So no password is sent
/// before.
class TlsSession {
 public:
  TlsSession(std::shared_ptr<const TlsContext> context, const std::string& host);

  bool established() const noexcept { return established_; }

  /// Takes bytes from the wire, and returns their plain text.
  std::string decrypt(std::string_view wire);

  /// Encrypts. REQUIRES: established()
  void encrypt(std::string_view plain);

  /// The bytes for the wire: handshake and encrypted text.
  std::string take_wire();

  /// Why the session failed; empty: it did not. After a failure, take_wire() may have an alert for the server.
  const std::optional<Failure>& failure() const noexcept { return failure_; }

 private:
  void shake_hands();
  void fail(int result);
  Failure failure_of_handshake(unsigned long error) const;

  struct Free {
    void operator()(ssl_st* session) const noexcept;
  };
  const std::shared_ptr<const TlsContext> context_;
  const std::string host_;
  std::unique_ptr<ssl_st, Free> session_;
  bool established_ = false;
  bool received_ = false;
  std::optional<Failure> failure_;
};

}  // namespace rlock
