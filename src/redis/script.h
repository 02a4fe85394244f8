#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace rlock {

/// A key or an argument of a script. The contract at the head of the script names it: see scripts.h.
enum class Parameter : std::uint8_t;

/// A Lua script, embedded at build time from lua/<subject>/<operation>.lua. The subject is a synchronizer, such as
/// `lock`, or what several of them share, such as `inspect`.
struct Script {
  std::string_view name;  ///< "lock/acquire"
  std::string_view sha1;  ///< SHA-1 of exactly the bytes in `source`, lower-case hexadecimal
  std::string_view source;

  /// The names of KEYS and ARGV in order, then zeros. A list at the end has no name. A call must have at
  /// least `required_keys` keys and `required_args` arguments.
  using Parameters = std::array<Parameter, 12>;
  Parameters keys{}, args{};
  std::uint8_t required_keys = 0, required_args = 0;

  const Script* several = nullptr;     ///< the script that takes several keys at once; null: there is none
  const Script* for_quorum = nullptr;  ///< the script for the nodes of a quorum; null: the same one
};

}  // namespace rlock
