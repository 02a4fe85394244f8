#pragma once

// What the explorer's clients ask, and what the answers mean, by the classes of src/sync.

#include "hold.h"
#include "sync/calls/keys.h"
#include "sync/calls/kind.h"
#include "sync/calls/line.h"
#include "sync/kinds/arrival.h"
#include "sync/kinds/fair.h"
#include "sync/kinds/fenced.h"
#include "sync/kinds/lock.h"
#include "sync/kinds/once_per.h"
#include "sync/kinds/permit_lock.h"
#include "sync/kinds/plain.h"
#include "sync/kinds/read_write.h"
#include "sync/kinds/together.h"

namespace rlock::model {

inline Claim claim_of(const Wanted& wanted, const std::string& key) {
  return {.name = LockName{key},
          .owner = Owner{wanted.owner},
          .lease = Milliseconds{wanted.lease},
          .owner_returns = wanted.returns,
          .if_busy = wanted.quorum ? IfBusy::no_places : IfBusy::place,
          .ticket = wanted.ticket};
}

inline std::shared_ptr<const Waitable> arrival_of(const Wanted& wanted) {
  const Kind& kind = wanted.type == "write" ? kinds::read_write : kinds::lock;
  return std::make_shared<Arrival>(claim_of(wanted, wanted.keys.front()), kind, wanted.owner);
}

inline Call ask_of(const Waitable& lock, std::int64_t waited) { return lock.ask(Milliseconds{waited}); }

/// The fences, one for each key.
inline std::vector<std::int64_t> fences_of(const Held& held) {
  std::vector<std::int64_t> fences;
  for (const Held& member : held.members)
    if (member.fence) fences.push_back(*member.fence);
  if (held.members.empty() && held.fence) fences.push_back(*held.fence);
  return fences;
}

inline Asked read_asked(const Waitable& lock, const Reply& reply) {
  const AcquireAnswer attempt = lock.read(reply);
  if (const auto* held = std::get_if<Held>(&attempt))
    return {.how = Asked::How::held, .fences = fences_of(*held)};
  if (const auto* busy = std::get_if<Busy>(&attempt)) return {.how = Asked::How::busy, .busy = *busy};
  const auto* refused = std::get_if<Refused>(&attempt);
  if (refused == nullptr) return {.how = Asked::How::failed};
  const bool outdated = refused->why == Refused::Why::superseded;
  return {.how = outdated ? Asked::How::superseded : Asked::How::refused};
}

inline bool read_renewed(const Lockable& lock, const Reply& reply) {
  return std::holds_alternative<Renewed>(lock.read_renewal(reply));
}

inline std::optional<Released> read_released(const Lockable& lock, const Reply& reply) {
  const ReleaseAnswer answer = lock.read_release(reply);
  const auto* released = std::get_if<Released>(&answer);
  return released != nullptr ? std::optional{*released} : std::nullopt;
}

inline std::optional<Call> undo_of(const Lockable& lock) { return lock.undo(Wake::waiters); }

inline std::vector<Channel> channels_of(const Waitable& lock, const Busy& busy) {
  const Line* line = lock.line(busy);
  return line != nullptr ? line->channels(busy) : lock.channels();
}

inline Heard hear_as(const Waitable& lock, const std::string& channel, const std::optional<std::string>& text,
                     Busy& busy) {
  const Line::Notice notice = lock.read_notice({Channel{channel}, text}, busy);
  if (notice.place) Line::move_up(busy, notice, TimePoint{});
  Heard result{.not_before = notice.not_before, .moved = notice.place.has_value()};
  if (notice.ask_after) result.ask_after = notice.ask_after->count();
  return result;
}

inline std::int64_t poll_of(const Waitable& lock, const Busy& busy) {
  return (lock.line(busy) != nullptr ? Line::kSleepsAtMost : lock.poll_every()).count();
}

/// The names of the keys in which waiters are recorded.
inline std::vector<std::string> waiting_keys(const LockName& name) {
  std::vector<std::string> keys = fair_queue_keys(name);
  for (std::string& key : line_keys(name)) keys.push_back(std::move(key));
  return keys;
}

/// For --once-per: a release that keeps the key also marks the work as done.
inline std::shared_ptr<const Lockable> once_per(std::shared_ptr<const Lockable> lock) {
  return std::make_shared<OncePer>(std::move(lock), "me@here");
}
inline Call ask_whether_done(const LockName& name) { return OncePer::status(name); }
inline bool reads_done(const Reply& reply) { return OncePer::read_status(reply).has_value(); }

inline bool silent_while_held(const Waitable&) { return true; }

}  // namespace rlock::model
