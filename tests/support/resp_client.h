#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "support/process.h"

namespace rlock::test {

/// A small blocking client that knows nothing of the code under
/// test: what redis-cli would tell, without starting one.
class RespClient {
 public:
  /// "unix:/path" or "host:port". Throws when nobody listens there.
  explicit RespClient(const std::string& where,
                      std::chrono::milliseconds patience = std::chrono::seconds{60});
  ~RespClient();
  RespClient(const RespClient&) = delete;
  RespClient& operator=(const RespClient&) = delete;

  /// Sends a command and gives its answer as redis-cli prints it when nobody looks: text as it is, numbers in
  /// decimal, nil as nothing, arrays one item a line, errors as "(error) ...".
  std::string ask(const Words& words);

  void send(const Words& words);

  /// The next answer or push; throws when none comes in time.
  std::string receive();

  /// The next answer or push; nothing when none comes in time.
  std::optional<std::string> receive_within(std::chrono::milliseconds patience);

 private:
  bool more(std::chrono::steady_clock::time_point until);
  std::string line();
  std::string bytes(std::size_t count);
  std::string value();

  int fd_ = -1;
  std::chrono::milliseconds patience_;
  std::chrono::steady_clock::time_point until_;
  std::string buffer_;
};

/// A socket that is connected to "unix:/path" or "host:port", or -1.
int connect_to(const std::string& where);

/// A command as it stands on the wire.
std::string encoded(const Words& words);

}  // namespace rlock::test
