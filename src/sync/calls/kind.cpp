#include "sync/calls/kind.h"

#include <algorithm>

#include "sync/calls/keys.h"

namespace rlock {
namespace {

using Layout = Kind::Layout;
using Listeners = Kind::Listeners;
using Sign = Kind::Sign;

}  // namespace

constinit const Kind kinds::lock{
    .name = "lock",
    .noun = "a lock",
    .stored_as = "lock",
    .layout = Layout::owners,
    .remedy = "take it with --type lock, fair, fenced or spin (flock has no --type)",
    .channel = lock_channel};

constinit const Kind kinds::fair{.name = "fair",
                                 .noun = "a fair lock",
                                 .stored_as = "lock",
                                 .layout = Layout::owners,
                                 .shown_by = Sign::queue,
                                 .listeners = Listeners::none,
                                 .as_found = "a lock",
                                 .like = &kinds::lock,
                                 .channel = lock_channel};

constinit const Kind kinds::fenced{.name = "fenced",
                                   .noun = "a fenced lock",
                                   .stored_as = "lock",
                                   .layout = Layout::owners,
                                   .shown_by = Sign::token,
                                   .as_found = "a lock",
                                   .like = &kinds::lock,
                                   .channel = lock_channel};

constinit const Kind kinds::read_write{.name = "read-write",
                                       .noun = "a read/write lock",
                                       .stored_as = "read-write",
                                       .layout = Layout::readers_and_writers,
                                       .remedy = "take it with --write (-x) or --read (-s)",
                                       .channel = read_write_channel};

constinit const Kind kinds::plain{.name = "plain",
                                  .noun = "a plain token lock",
                                  .stored_as = "string",
                                  .layout = Layout::token,
                                  .as_stored = "text",
                                  .remedy = "if it is a plain lock, take it with --type plain"};

constinit const Kind kinds::semaphore{.name = "semaphore",
                                      .noun = "a semaphore",
                                      .stored_as = "number",
                                      .layout = Layout::number,
                                      .as_stored = "a number (a semaphore, a pool of permits, a latch)",
                                      .as_found = "a number (a semaphore or a pool of permits)",
                                      .channel = permits_channel};

constinit const Kind kinds::permit{.name = "permit",
                                   .noun = "a pool of permits",
                                   .stored_as = "number",
                                   .layout = Layout::number,
                                   .shown_by = Sign::permits,
                                   .is_pool = true,
                                   .like = &kinds::semaphore,
                                   .channel = permits_channel};

constinit const Kind kinds::latch{.name = "latch",
                                  .noun = "a latch",
                                  .stored_as = "number",
                                  .layout = Layout::number,
                                  .shown_by = Sign::record,
                                  .listeners = Listeners::all,
                                  .as_stored = "a count-down latch",
                                  .channel = latch_channel};

std::span<const Kind* const> all_kinds() {
  static constexpr const Kind* kAll[] = {&kinds::lock,  &kinds::fair,      &kinds::fenced, &kinds::read_write,
                                         &kinds::plain, &kinds::semaphore, &kinds::permit, &kinds::latch};
  return kAll;
}

const Kind* refined(const Kind* kind, Sign sign) {
  if (kind != nullptr && kind->shown_by != Sign::none) return kind;
  const auto shown = std::ranges::find_if(all_kinds(), [&](const Kind* one) {
    return one->shown_by == sign && (kind == nullptr || one->stored_as == kind->stored_as);
  });
  return shown == all_kinds().end() ? kind : *shown;
}

const Kind* kind_stored_as(std::string_view word) {
  const auto found = std::ranges::find(all_kinds(), word, &Kind::stored_as);
  return found == all_kinds().end() ? nullptr : *found;
}

}  // namespace rlock
