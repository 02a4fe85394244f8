#pragma once

#include <string>

#include "base/error.h"
#include "redis/reply.h"

namespace rlock {

/// Why something did not work, where not working is normal: an Error that has not been thrown.
struct Failure {
  Error::Kind kind = Error::unreachable;
  std::string text;

  [[noreturn]] void fly() const { throw Error{kind, text}; }
};

/// What an error reply means to a person and to the exit status: NOAUTH, WRONGPASS, NOPERM and scripts that
/// may not do something are denied; WRONGTYPE is wrong_type; LOADING, READONLY, MISCONF, OOM, ... are
/// unreachable. Each in words, with what helps and with the server's own words behind.
Failure failure_of(const Reply& error);

/// Does this error reply mean that the server cannot answer now, but may soon?
bool is_passing(const Reply& error);

}  // namespace rlock
