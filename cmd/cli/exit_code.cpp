#include "cmd/cli/exit_code.h"

namespace rlock::exit_code {

int of(Error::Kind kind) noexcept {
  switch (kind) {
    case Error::usage: return usage;
    case Error::wrong_type: return wrong_type;
    case Error::unreachable: return unreachable;
    case Error::internal: return internal;
    case Error::system: return system;
    case Error::denied: return denied;
    case Error::config: return config;
  }
  return internal;
}

}  // namespace rlock::exit_code
