#pragma once

#include <string>

#include "base/error.h"

namespace rlock {

/// Why something did not work, where not working is normal: an Error that has not been thrown.
struct Failure {
  Error::Kind kind = Error::unreachable;
  std::string text;

  [[noreturn]] void fly() const { throw Error{kind, text}; }
};

}  // namespace rlock
