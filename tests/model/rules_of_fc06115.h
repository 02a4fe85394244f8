#pragma once

// The interface between the explorer and src/sync of commit fc06115, in which the explorer must find the old
// defects. CMakeLists.txt says how to build it.

#include "hold.h"
#include "sync/kinds/fair.h"
#include "sync/kinds/fenced.h"
#include "sync/kinds/keys.h"
#include "sync/kinds/lock.h"
#include "sync/kinds/permit_lock.h"
#include "sync/kinds/plain.h"
#include "sync/kinds/read_write.h"
#include "sync/kinds/together.h"

namespace rlock::model {

constexpr const char* kRules = "fc06115";
constexpr bool kWaitsForUndo = false;

inline Claim claim_of(const Wanted& wanted, const std::string& key) {
  return {.name = LockName{key}, .owner = Owner{wanted.owner}, .lease = Milliseconds{wanted.lease}};
}

inline std::shared_ptr<const Waitable> arrival_of(const Wanted&) { return nullptr; }  // there is no --newest

inline Call ask_of(const Waitable& lock, std::int64_t) { return lock.ask(); }

/// The fences, one for each key.
inline std::vector<std::int64_t> fences_of(const Held& held) {
  std::vector<std::int64_t> fences;
  if (held.fence) fences.push_back(*held.fence);
  return fences;
}

inline Asked read_asked(const Waitable& lock, const Reply& reply) {
  const Attempt attempt = lock.read(reply);
  if (const auto* held = std::get_if<Held>(&attempt))
    return {.how = Asked::How::held, .fences = fences_of(*held)};
  if (const auto* busy = std::get_if<Busy>(&attempt)) return {.how = Asked::How::busy, .busy = *busy};
  return {.how = Asked::How::refused};
}

inline bool read_renewed(const Lockable& lock, const Reply& reply) { return lock.read_renewal(reply); }

inline std::optional<Released> read_released(const Lockable& lock, const Reply& reply) {
  return lock.read_release(reply);
}

inline std::optional<Call> undo_of(const Lockable& lock) { return lock.give_back(); }

inline std::vector<Channel> channels_of(const Waitable& lock, const Busy&) { return lock.channels(); }

inline Heard hear_as(const Waitable&, const std::string&, const std::optional<std::string>&, Busy&) {
  return {.ask_after = 0};
}

inline std::int64_t poll_of(const Waitable& lock, const Busy&) { return lock.poll_every().count(); }

/// The names of the keys in which waiters are recorded.
inline std::vector<std::string> waiting_keys(const LockName& name) { return fair_queue_keys(name); }

/// This commit had no --once-per: it is enough to ask whether the holds exist.
inline std::shared_ptr<const Lockable> once_per(std::shared_ptr<const Lockable> lock) { return lock; }
inline Call ask_whether_done(const LockName& name) {
  return Lock{Claim{.name = name, .owner = Owner{"nobody"}}}.renew();
}
inline bool reads_done(const Reply&) { return true; }

inline bool silent_while_held(const Waitable&) { return false; }

}  // namespace rlock::model
