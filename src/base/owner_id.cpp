#include "base/owner_id.h"

#include <unistd.h>

#include <string>

#include "base/random.h"
#include "base/text.h"

namespace rlock {
namespace {

/// The position of the version in a UUID, and the length of a UUID.
constexpr std::size_t kVersionAt = 14;
constexpr std::size_t kUuidLength = 36;

/// RFC 9562 leaves version 8 to the maker. Ours is as random as Redisson's version 4, but cannot be taken for
/// one of Redisson's.
std::string our_uuid() {
  std::string bytes = random_bytes(16);
  bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x80);
  bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);  // the variant of RFC 9562
  std::string text = to_hex(bytes);
  for (std::size_t dash : {8, 13, 18, 23}) text.insert(dash, 1, '-');
  return text;
}

}  // namespace

bool has_redisson_form(const Owner& owner) {
  const std::string& text = owner.str();
  return text.find(':') == kUuidLength && parse_count(std::string_view{text}.substr(kUuidLength + 1));
}

bool is_of_rlock(const Owner& owner) { return has_redisson_form(owner) && owner.str()[kVersionAt] == '8'; }

Owner new_owner() { return new_owner(::getpid()); }

Owner new_owner(std::int64_t pid) { return Owner{our_uuid() + ":" + std::to_string(pid)}; }

std::optional<std::int64_t> process_in(const Owner& owner) {
  if (!is_of_rlock(owner)) return std::nullopt;
  return parse_count(std::string_view{owner.str()}.substr(kUuidLength + 1));
}

}  // namespace rlock
