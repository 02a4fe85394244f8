#pragma once

#include <doctest/doctest.h>

#include <string>

#include "support/cli.h"
#include "support/redis_server.h"

namespace rlock::test {

/// The exit status of one command line.
inline int status_of(const RedisServer& redis, const Words& words,
                     std::chrono::milliseconds deadline = std::chrono::seconds{10}) {
  return Rlock{words, redis.environment()}.exit_code(deadline);
}

/// The seconds in "gave up after 1.6s"; -1: there is no such text. A busy machine is late, so tests check
/// only a lower bound.
inline double gave_up_after(const std::string& text) {
  const std::string words = "rlock: gave up after ";
  const std::size_t at = text.find(words);
  return at == std::string::npos ? -1 : std::stod(text.substr(at + words.size()));
}

/// The first line of a text. Checks that the text ends with a newline.
inline std::string line(const std::string& text) {
  CHECK(text.ends_with('\n'));
  return text.substr(0, text.find('\n'));
}

/// Acquires `key` by `rlock lock acquire`, and returns the owner.
inline std::string acquired(const RedisServer& redis, const std::string& key, const Words& more = {}) {
  Words words{"lock", "acquire", "-n", key, "--lease", "1m"};
  words.insert(words.end(), more.begin(), more.end());
  Rlock acquire{words, redis.environment()};
  REQUIRE(acquire.exit_code() == 0);
  CHECK(acquire.err().empty());
  return line(acquire.out());
}

}  // namespace rlock::test
