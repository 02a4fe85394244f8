#include "sync/foreign.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/key_text.h"
#include "base/text.h"

namespace rlock {
namespace {

struct Kind {
  std::string_view code;    ///< as lua/shared/kind_of answers it
  std::string_view what;    ///< for people
  std::string_view remedy;  ///< how to take this instead; empty: it is nothing that we could take
};

constexpr Kind kKinds[] = {
    {"lock", "a lock", "take it with --type lock, fair, fenced or spin"},
    {"read-write", "a read/write lock", "take it with --write (-x) or --read (-s)"},
    {"string", "text, perhaps a plain token lock", "take that with --type plain"},
    {"number", "a number (a semaphore, a pool of permits, a latch)", ""},
    {"latch", "a count-down latch", ""},
    {"group", "a FasterMultiLock of Redisson, which rlock does not know", ""},
    {"hash", "a hash that is no lock", ""},
    {"permits", "a number, and beside it ({...}:timeout) no list of taken permits", ""},
    {"crowd", "more entries than rlock reads in one go (thousands)", ""},
    {"token", "a fencing token that is no number beside it", "restore or delete redisson_lock_token:{...}"},
};

/// The verbs that want these know no --type: they get no remedy that they would refuse.
constexpr std::string_view kWantedWithoutType[] = {"a semaphore", "a pool of permits", "a latch"};

}  // namespace

Refused refuse_foreign(const LockName& name, std::string_view wanted, std::string_view found) {
  const auto* kind = std::ranges::find(kKinds, found, &Kind::code);
  const bool known = kind != std::end(kKinds);
  const std::string what = known ? std::string{kind->what} : fmt::format("a {}", sanitized(found));
  const bool has_type = std::ranges::count(kWantedWithoutType, wanted) == 0;
  const std::string_view remedy = known && has_type ? kind->remedy : std::string_view{};
  return {.why = Refused::Why::wrong_type,
          .text = fmt::format("{} holds {}, not {}; {}choose another key{}", quoted(name), what, wanted,
                              remedy.empty() ? "" : fmt::format("{}, or ", remedy),
                              remedy.empty() ? " or delete what stands there" : "")};
}

Busy busy_until(const Reply& pttl, const Reply& holder) {
  Busy busy;
  if (!holder.is_nil()) busy.holder = holder.text();
  const Milliseconds rest = pttl.milliseconds();
  if (rest < Milliseconds{0}) {
    busy.no_ttl = true;
  } else {
    busy.retry_after = busy.rest = rest;
  }
  return busy;
}

}  // namespace rlock
