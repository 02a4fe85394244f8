#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cmd/ask/wait_lines.h"
#include "cmd/run/ancestor_watch.h"
#include "cmd/run/deadlock_watch.h"
#include "cmd/run/held_keys.h"
#include "cmd/run/hold_request.h"
#include "cmd/run/once_watch.h"
#include "cmd/run/script_watch.h"
#include "cmd/server/session.h"

namespace rlock {

/// Why there is no lock. HoldWait::give_up() checks in this order, but a deadlock with an ancestor last.
struct NotHeld {
  enum class Why {
    signal,        ///< somebody has ended the wait
    script_ended,  ///< nobody is left for whom it would be held
    done,          ///< its work is done already (--once-per)
    deadlock,      ///< the wait would never end
    queue_full,    ///< --queue-limit: others wait already
    superseded,    ///< --newest: a newer one has come
    other          ///< see the GaveUp
  } why = Why::other;
  int exit = 0;               ///< the status that says so
  std::optional<int> signal;  ///< which one; the caller dies of it when nothing is left to do
};

/// The wait for what a HoldRequest wants. It ends with all keys held or with nothing held or queued; what else
/// may end it than the lock, a signal or its time: a circle of waiters, work that is done, a script that ends.
///
/// A hold of a process above us is joined (HeldKeys): what RLOCK_STACK names at once, another one as soon as its
/// record shows it. REQUIRES: request and session outlive it.
class HoldWait {
 public:
  HoldWait(Session& session, const HoldRequest& request, Metadata facts);

  /// After it with Taken: keys().
  [[nodiscard]] Acquired run();

  /// What was taken, or asked for last.
  HeldKeys& keys() { return *keys_; }

  /// Did this wait end because no server could be used? Then `--if-unreachable` says what follows.
  bool unreachable(const GaveUp& gave_up) const;

  /// Do more wait already than --queue-limit allows?
  bool queue_full() const { return request_.queue_limit && ahead_ && *ahead_ >= *request_.queue_limit; }

  /// Has any server said during this wait that somebody has it?
  bool heard_busy() const noexcept { return heard_busy_; }

  /// Why no server could be used, for a person; `then`: what follows, "; ...".
  std::string describe(const GaveUp& gave_up, std::string_view then);

  /// Says why there is no lock, and which status that is.
  NotHeld give_up(const GaveUp& gave_up);

 private:
  std::optional<GaveUp> arrive();
  Acquired attempt();
  AcquireOptions options();
  Wish wish(NewIdentity renewed);
  Owner fresh_owner() const;
  bool end_the_wait();
  void count_waiters(const Waiting& waiting);
  bool joins_another(const Acquired& got);
  bool leaves_one(const GaveUp& gave_up);
  int say(const GaveUp& gave_up);

  Session& session_;
  const HoldRequest& request_;
  const Metadata facts_;
  WaitLines lines_;
  std::vector<InheritedHold> above_;
  Owner owner_;
  bool again_;
  bool heard_busy_ = false;
  std::optional<std::int64_t>
      ahead_;                ///< --queue-limit: how many waited before us, as the first answer has told
  std::int64_t ticket_ = 0;  ///< --newest: see Claim
  std::optional<HeldKeys> keys_;
  std::optional<AncestorWatch> ancestors_;
  std::optional<DeadlockWatch> deadlock_;
  std::optional<OnceWatch> once_;
  std::optional<ScriptWatch> script_;
};

}  // namespace rlock
