#include "sync/calls/kind.h"

#include "sync/calls/keys.h"

namespace rlock {
namespace {

using Layout = Kind::Layout;
using Listeners = Kind::Listeners;
using Sign = Kind::Sign;

}  // namespace

constexpr Kind kinds::all[] = {
    {.name = "lock",
     .noun = "a lock",
     .stored_as = "lock",
     .layout = Layout::owners,
     .remedy = "take it with --type lock, fair, fenced or spin (flock has no --type)",
     .channel = lock_channel},
    {.name = "fair",
     .noun = "a fair lock",
     .stored_as = "lock",
     .layout = Layout::owners,
     .shown_by = Sign::queue,
     .listeners = Listeners::none,
     .as_found = "a lock",
     .like = &kinds::lock,
     .channel = lock_channel},
    {.name = "fenced",
     .noun = "a fenced lock",
     .stored_as = "lock",
     .layout = Layout::owners,
     .shown_by = Sign::token,
     .as_found = "a lock",
     .like = &kinds::lock,
     .channel = lock_channel},
    {.name = "read-write",
     .noun = "a read/write lock",
     .stored_as = "read-write",
     .layout = Layout::readers_and_writers,
     .remedy = "take it with --write (-x) or --read (-s)",
     .channel = read_write_channel},
    {.name = "plain",
     .noun = "a plain token lock",
     .stored_as = "string",
     .layout = Layout::token,
     .as_stored = "text",
     .remedy = "if it is a plain lock, take it with --type plain"},
    {.name = "semaphore",
     .noun = "a semaphore",
     .stored_as = "number",
     .layout = Layout::number,
     .as_stored = "a number (a semaphore, a pool of permits, a latch)",
     .as_found = "a number (a semaphore or a pool of permits)",
     .channel = permits_channel},
    {.name = "permit",
     .noun = "a pool of permits",
     .stored_as = "number",
     .layout = Layout::number,
     .shown_by = Sign::permits,
     .is_pool = true,
     .like = &kinds::semaphore,
     .channel = permits_channel},
    {.name = "latch",
     .noun = "a latch",
     .stored_as = "number",
     .layout = Layout::number,
     .shown_by = Sign::record,
     .listeners = Listeners::all,
     .as_stored = "a count-down latch",
     .channel = latch_channel},
};

static_assert(kinds::lock.name == "lock" && kinds::fair.name == "fair" && kinds::fenced.name == "fenced" &&
              kinds::read_write.name == "read-write" && kinds::plain.name == "plain" &&
              kinds::semaphore.name == "semaphore" && kinds::permit.name == "permit" &&
              kinds::latch.name == "latch");

const Kind* refined(const Kind* kind, Sign sign) {
  if (kind != nullptr && kind->shown_by != Sign::none) return kind;
  for (const Kind& one : kinds::all)
    if (one.shown_by == sign && (kind == nullptr || one.stored_as == kind->stored_as)) return &one;
  return kind;
}

const Kind* kind_stored_as(std::string_view word) {
  for (const Kind& one : kinds::all)
    if (one.stored_as == word) return &one;
  return nullptr;
}

}  // namespace rlock
