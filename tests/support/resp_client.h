#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "support/process.h"

namespace rlock::test {

/// A small blocking client that does not use the code under test. ask() returns what redis-cli prints,
/// without starting redis-cli.
class RespClient {
 public:
  /// "unix:/path" or "host:port". Throws if nothing listens there.
  explicit RespClient(const std::string& where,
                      std::chrono::milliseconds patience = std::chrono::seconds{60});
  ~RespClient();
  RespClient(const RespClient&) = delete;
  RespClient& operator=(const RespClient&) = delete;

  /// Sends a command and returns its reply as redis-cli prints it into a pipe. Text is unchanged, numbers are
  /// decimal, nil is an empty text, an array has one item a line, and an error begins with "(error) ".
  std::string ask(const Words& words);

  void send(const Words& words) const;

  /// The next reply or push; throws if none comes in time.
  std::string receive();

  /// The next reply or push; empty if none comes in time.
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

/// A socket that is connected to "unix:/path" or "host:port"; -1: it failed.
int connect_to(const std::string& where);

/// A command as bytes for the wire.
std::string encoded(const Words& words);

}  // namespace rlock::test
