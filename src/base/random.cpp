#include "base/random.h"

#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/text.h"

namespace rlock {

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t done = 0; done < count;) {
    const ssize_t got = ::getrandom(bytes.data() + done, count - done, 0);
    if (got > 0) {
      done += static_cast<std::size_t>(got);
    } else if (errno != EINTR) {
      throw_system_error("the kernel gives no random numbers");
    }
  }
  return bytes;
}

std::uint64_t random_below(std::uint64_t bound) {
  if (bound == 0) return 0;
  // Numbers from `fair` on are not used, because with them low results would come more often than others.
  const std::uint64_t fair = std::numeric_limits<std::uint64_t>::max() / bound * bound;
  for (;;) {
    std::uint64_t number = 0;
    std::memcpy(&number, random_bytes(sizeof number).data(), sizeof number);
    if (number < fair) return number % bound;
  }
}

Milliseconds jitter(Milliseconds span) {
  if (span <= Milliseconds::zero()) return Milliseconds::zero();
  const auto below = static_cast<std::uint64_t>(span.count()) + 1;
  return Milliseconds{static_cast<Milliseconds::rep>(random_below(below))};
}

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

RequestId new_request() { return RequestId{to_hex(random_bytes(16))}; }

}  // namespace rlock
