#include "sync/calls/foreign.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/key_text.h"
#include "base/text.h"

namespace rlock {
namespace {

/// A word by which the scripts (lua/shared/redis/kind_of and others) name something that is none of our
/// kinds.
struct Other {
  std::string_view word;
  std::string_view what;      ///< for people
  std::string_view remedy{};  ///< what people can do instead of choosing another key; empty: delete this key
};

constexpr Other kOthers[] = {
    {"group", "a FasterMultiLock of Redisson, which rlock does not know"},
    {"hash", "a hash of another program"},
    {"permits", "a number, and beside it ({...}:timeout) no list of taken permits"},
    {"too_many", "more entries than rlock reads in one go (thousands)"},
    {"token", "a fencing token that is no number beside it", "restore or delete redisson_lock_token:{...}"},
};

/// Does the verb that asks for `wanted` have --type? The verbs of semaphores, pools and latches do not, and
/// would refuse a remedy that names it.
bool has_type(std::string_view wanted) {
  const auto* const kind = std::ranges::find(kinds::all, wanted, &Kind::noun);
  return kind == std::end(kinds::all) || kind->layout != Kind::Layout::number;
}

/// `otherwise`: what to do if there is no remedy that this verb takes.
Refused refuse(const LockName& name, std::string_view wanted, std::string_view what, std::string_view remedy,
               const std::string& otherwise) {
  const bool has_remedy = has_type(wanted) && !remedy.empty();
  return {.why = Refused::Why::wrong_type,
          .text = fmt::format("{} holds {}, not {}; {}choose another key{}", quoted(name), what, wanted,
                              has_remedy ? fmt::format("{}, or ", remedy) : "", has_remedy ? "" : otherwise)};
}

Refused refuse_other(const LockName& name, std::string_view wanted, std::string_view what,
                     std::string_view remedy) {
  return refuse(name, wanted, what, remedy, ", or delete this one if no program uses it");
}

}  // namespace

/// A synchronizer may be in use although it names no holder, so the text does not suggest to delete it.
Refused refuse_foreign(const LockName& name, std::string_view wanted, const Kind& found) {
  return refuse(name, wanted, found.as_stored.empty() ? found.noun : found.as_stored, found.remedy,
                "; to see who uses this one: rlock inspect " + words_for(name));
}

Refused refuse_foreign(const LockName& name, std::string_view wanted, std::string_view found) {
  if (const Kind* kind = kind_stored_as(found)) return refuse_foreign(name, wanted, *kind);
  const auto* other = std::ranges::find(kOthers, found, &Other::word);
  if (other != std::end(kOthers)) return refuse_other(name, wanted, other->what, other->remedy);
  return refuse_other(name, wanted, fmt::format("a {}", sanitized(found)), "");
}

}  // namespace rlock
