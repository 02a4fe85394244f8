#include "base/error.h"

#include <cstring>

namespace rlock {

void throw_system_error(std::string_view what, int error) {
  throw Error{Error::system, std::string{what} + ": " + std::strerror(error)};
}

}  // namespace rlock
