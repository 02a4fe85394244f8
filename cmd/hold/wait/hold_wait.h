#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "cmd/ask/last_word.h"
#include "cmd/ask/wait_lines.h"
#include "cmd/hold/keys/held_keys.h"
#include "cmd/hold/report/not_held.h"
#include "cmd/hold/request/hold_request.h"
#include "cmd/hold/wait/ancestor_watch.h"
#include "cmd/hold/wait/deadlock_watch.h"
#include "cmd/hold/wait/once_watch.h"
#include "cmd/hold/wait/queue_watch.h"
#include "cmd/hold/wait/script_watch.h"
#include "cmd/server/session.h"

namespace rlock {

/// The wait for the keys of a HoldRequest. At its end all keys are held, or rlock has undone what it acquired and
/// given up its places in queues. A deadlock, work that is done, or the end of the script also ends the wait.
///
/// If a process above us holds a key, we join that hold (HeldKeys). Holds in RLOCK_STACK are joined at once,
/// others when their record shows them. REQUIRES: session, request and observer outlive it.
class HoldWait {
 public:
  /// `observer`: hears of the wait; may be null.
  HoldWait(Session& session, const HoldRequest& request, Metadata facts, WaitObserver* observer);

  /// Waits until all keys are held, or the wait is over.
  [[nodiscard]] std::variant<HeldKeys, GaveUp> run();

  /// Did this wait end because no server could be used? Then `--if-unreachable` decides.
  bool unreachable(const GaveUp& gave_up) const;

  /// Has any server answered "busy" during this wait?
  bool seen_busy() const noexcept { return seen_busy_; }

  /// Why no server could be used, for people. `then`: the end of the text, "; ...".
  std::string describe(const GaveUp& gave_up, std::string_view then) {
    return LastWord{lines_, gave_up}.failure(then);
  }

  /// Prints why there is no lock, and returns the reason and the exit status. `then`: as in describe().
  NotHeld report_not_held(const GaveUp& gave_up, std::string_view then = {});

 private:
  std::optional<GaveUp> arrive();
  AcquireOptions options();
  AcquireRequest renew_request(NewIdentity renewed);
  Owner fresh_owner() const;
  bool wait_is_over();
  bool join_another(const GaveUp& gave_up);
  bool leave_one(const GaveUp& gave_up);
  NotHeld::Why why_not(const GaveUp& gave_up);

  Session& session_;
  const HoldRequest& request_;
  WaitLines lines_;
  Claimant claimant_;
  bool seen_busy_ = false;
  std::optional<WantedKeys> keys_;  ///< as they were asked for last
  std::optional<AncestorWatch> ancestors_;
  std::optional<DeadlockWatch> deadlock_;
  std::optional<OnceWatch> once_;
  QueueWatch queue_;
  std::optional<ScriptWatch> script_;
};

}  // namespace rlock
