#pragma once

#include "support/cli.h"
#include "support/redis_server.h"

namespace rlock::test {

/// Starts an rlock through another program, such as a shell.
inline Process start(const RedisServer& redis, Words argv, Process::Options options = {}) {
  const auto ours = redis.environment();
  options.env.insert(ours.env.begin(), ours.env.end());
  options.unset = ours.unset;
  options.env.try_emplace("RLOCK", rlock_binary());
  return Process{std::move(argv), options};
}

/// The same by a line of bash, in which $RLOCK is the binary.
inline Process sh(const RedisServer& redis, const std::string& line, const Process::Options& options = {}) {
  return start(redis, {"bash", "-c", line}, options);
}

}  // namespace rlock::test
