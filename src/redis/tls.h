#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "redis/failure.h"
#include "redis/target.h"

struct ssl_ctx_st;
struct ssl_st;

namespace rlock {

/// Which servers to trust, and our own certificate: TLS 1.2 or newer, the certificates read once.
/// Without TLS none is made, and OpenSSL is not even loaded.
class TlsContext {
 public:
  /// Throws Error{config} for files that are missing, unreadable
  /// or not what they should be, and for a key with a passphrase.
  /// Throws Error{unreachable} where OpenSSL is not installed.
  /// Warns when nothing will be verified.
  explicit TlsContext(const Tls& tls);
  ~TlsContext();

  const Tls& options() const noexcept { return tls_; }
  ssl_ctx_st* handle() const noexcept { return context_.get(); }

  /// Nobody said whom to trust, and this machine does not say either.
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

/// The version of the OpenSSL that TLS uses: "3.5.7". Throws Error{unreachable} where none is installed.
std::string tls_library_version();

/// What `tls` asks for; nothing where TLS is off.
std::shared_ptr<const TlsContext> tls_context(const Tls& tls);

/// One end of a TLS conversation. Knows no socket: bytes in, bytes out. Until
/// the other end has proved that it is `host`, by a chain that we trust and
/// by its name, nothing is encrypted, so that no password leaves before.
class TlsSession {
 public:
  TlsSession(std::shared_ptr<const TlsContext> context, const std::string& host);
  ~TlsSession();

  bool established() const noexcept { return established_; }

  /// Takes what came over the wire, and gives the plain text of it.
  std::string hear(std::string_view wire);

  /// Encrypts. REQUIRES: established()
  void say(std::string_view plain);

  /// What is to go over the wire: handshake and encrypted text.
  std::string take_wire();

  /// Did it end for a reason of its own? What then still is to go over the wire is an alert that says so.
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
  bool heard_ = false;
  std::optional<Failure> failure_;
};

}  // namespace rlock
