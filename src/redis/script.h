#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace rlock {

/// A key or an argument of a script, by the name that the contract at the head of the script gives it: see scripts.h.
enum class Parameter : std::uint8_t;

/// A Lua script, embedded at build time from lua/<synchronizer>/<operation>.lua.
struct Script {
  std::string_view name;  ///< "lock/acquire"
  std::string_view sha1;  ///< of exactly the bytes in `source`, lower-case hexadecimal
  std::string_view source;

  /// KEYS and ARGV in their order, then zeros; a list at the end has no name. So many of them there must be.
  using Parameters = std::array<Parameter, 12>;
  Parameters keys{}, args{};
  std::uint8_t required_keys = 0, required_args = 0;

  const Script* several =
      nullptr;  ///< takes several keys in one go where this one takes one; null: there is none
  const Script* for_quorum = nullptr;  ///< what each node of a quorum gets instead; null: there is none
};

}  // namespace rlock
