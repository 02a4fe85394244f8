#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "redis/connection/reply_reader.h"
#include "redis/connection/tls.h"
#include "redis/failure.h"

namespace rlock {

/// Sends commands and receives replies on a connected socket, with or without TLS. Bytes that the socket does
/// not take are kept until it does.
class Wire {
 public:
  Wire(Descriptor socket, std::unique_ptr<TlsSession> tls)
      : socket_(std::move(socket)), tls_(std::move(tls)) {}

  /// May we write commands? With TLS, only after the handshake, which checks who the server is: see TlsSession.
  bool secure() const noexcept { return !tls_ || tls_->established(); }

  int fd() const noexcept { return socket_.number(); }
  short interest() const noexcept;

  /// Appends a command to the unsent bytes. Words may contain any byte. REQUIRES: secure()
  void append(const std::vector<std::string>& words);

  void flush();
  void receive(ReplyReader& reader);  ///< reads the available bytes, 256 KiB at most

  /// Why the connection is broken; empty: it works.
  const std::optional<Failure>& failure() const noexcept { return failure_; }

 private:
  void broke(int error);
  void take(std::string_view bytes, ReplyReader& reader);

  Descriptor socket_;
  std::unique_ptr<TlsSession> tls_;
  std::string unsent_;
  std::optional<Failure> failure_;
};

}  // namespace rlock
