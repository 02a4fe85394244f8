#pragma once

#include <string_view>

namespace rlock {

/// A Lua script, embedded at build time from lua/<synchronizer>/<operation>.lua.
struct Script {
  std::string_view name;  ///< "lock/acquire"
  std::string_view sha1;  ///< of exactly the bytes in `source`, lower-case hexadecimal
  std::string_view source;
};

}  // namespace rlock
