#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "redis/failure.h"
#include "redis/reply_reader.h"
#include "redis/tls.h"

namespace rlock {

/// Commands and replies over a connected socket, with or without
/// TLS. What the socket does not take at once is kept until it does.
class Wire {
 public:
  Wire(Descriptor socket, std::unique_ptr<TlsSession> tls)
      : socket_(std::move(socket)), tls_(std::move(tls)) {}

  /// May anything be written? With TLS not before the server has proved its identity.
  bool secure() const noexcept { return !tls_ || tls_->established(); }

  int fd() const noexcept { return socket_.number(); }
  short interest() const noexcept;

  /// Puts a command behind what waits to be sent. Words are
  /// bytes: nothing in them is special. REQUIRES: secure()
  void say(const std::vector<std::string>& words);

  void flush();
  void receive(ReplyReader& reader);  ///< whatever has come

  /// Why nothing comes or goes any more; nothing while it does.
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
