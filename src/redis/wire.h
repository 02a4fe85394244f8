#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "redis/reply_reader.h"

namespace rlock {

/// Commands and replies over a connected socket. What the socket does not take at once is kept until it does.
class Wire {
 public:
  explicit Wire(Descriptor socket) : socket_(std::move(socket)) {}

  int fd() const noexcept { return socket_.number(); }
  short interest() const noexcept;

  /// Puts a command behind what waits to be sent. Words are bytes: nothing in them is special.
  void say(const std::vector<std::string>& words);

  void flush();
  void receive(ReplyReader& reader);  ///< whatever has come

  /// Why nothing comes or goes any more; nothing while it does.
  const std::optional<std::string>& broken() const noexcept { return broken_; }

 private:
  void broke(int error);

  Descriptor socket_;
  std::string unsent_;
  std::optional<std::string> broken_;
};

}  // namespace rlock
