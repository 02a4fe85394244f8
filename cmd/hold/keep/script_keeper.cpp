// The keeper of a script. It is a fork of the rlock that acquired the lock. Its loop, signals and connections
// are its own (Session), because those of the parent end with the parent.
//
// It holds the lock as `rlock run` does: RenewedKeys renews, and HeldProcesses guards and stops. But the script
// is no child of the keeper, and a signal to the keeper is meant for the keeper. Another rlock may release the
// lock while the script goes on. run() takes these steps:
//
//   release numbers  First, because the guardian needs them, too, and is forked with them.
//   guardian         Before the parent prints the owner: a hold that a script has got is always guarded.
//   script           Does it still live? By now all watches of its PID have begun, so they watch the right process.
//   at_work()        The parent prints the owner. If it cannot, the parent undoes the acquire, and we leave the lock.
//                    If the parent is killed meanwhile, we undo it.
//   turns            Until the script has ended or the lock is gone. If the script was stopped, its other processes
//                    must have ended, too.
//   end              The guardian signals nothing from here on, but releases if we are killed. Keys that were released
//                    elsewhere are dropped before renewals stop, so that they do not count as lost. The release may end
//                    later than the lease: so whether the lock was lost is decided before it. When it is confirmed or
//                    given up, the guardian goes, before the last event: it would report the end once more.

#include "cmd/hold/keep/script_keeper.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/key_text.h"
#include "base/log.h"
#include "cmd/hold/keep/guardian_release.h"
#include "cmd/hold/keep/release_held.h"
#include "cmd/hold/keep/renewed_keys.h"
#include "cmd/hold/keys/released_elsewhere.h"
#include "cmd/hold/wait/script_watch.h"
#include "cmd/server/session.h"
#include "family/escalation.h"
#include "family/script_family.h"
#include "process/background.h"
#include "process/std_descriptors.h"
#include "sync/hold/release.h"

namespace rlock {
namespace {

/// The time for the question whether the owner has released the hold. After a loss, the stop of the script
/// waits for the answer.
constexpr Milliseconds kReleasedAnswer{250};

/// The pause between two looks for remaining processes, after the script was told to end and has ended.
constexpr Milliseconds kLookAgain{50};

/// How long to keep the lock for a process of which we do not know whether it belongs to the script.
constexpr Milliseconds kDoubtfulEnds{1000};

StopOptions stop_options(const HoldRequest& request, Events& events) {
  StopOptions options{.rules = request.stop,
                      .whom = fmt::format("process {}", request.script->pid),
                      .last_tries = kLastTries};
  events.listen_to(options);
  return options;
}

class ScriptKeeper {
 public:
  ScriptKeeper(const HeldKeys& keys, Events& events)
      : request_(keys.request()),
        keys_(keys),
        events_(events),
        released_elsewhere_(keys),
        session_(request_.deployment, WaitOptions{}, request_.quorum),
        family_(*request_.script, ::getpid()),
        renewed_(
            session_.redis, keys, session_.now(),
            [&events](const std::string& problem) { events.trouble(problem); }, nullptr),
        script_(session_.loop, *request_.script),
        processes_(session_.loop, family_, renewed_.lock(), stop_options(request_, events)) {}

  /// Calls `at_work` when all watches have begun.
  void run(const std::function<Start()>& at_work);

 private:
  void start_guardian();
  bool begin(const std::function<Start()>& at_work);
  void finish();
  void turn();
  bool over();
  void forget_released();
  HoldEnd end();
  std::optional<HoldReport::KeysEnd> release_keys(const HoldEnd& how);
  void leave_to_lease();
  HoldReport::KeysEnd keys_end(std::vector<ReleaseResult> answers);

  const HoldRequest& request_;
  const HeldKeys& keys_;
  Events& events_;
  ReleasedElsewhere released_elsewhere_;
  Session session_;
  ScriptFamily family_;
  RenewedKeys renewed_;
  ScriptWatch script_;
  HeldProcesses processes_;
  std::optional<int> end_signal_;  ///< the signal that told the keeper to end: the script has to end first
  TimePoint rest_ends_ = kNever;
};

void ScriptKeeper::run(const std::function<Start()>& at_work) {
  start_guardian();
  if (!begin(at_work)) return;
  while (!renewed_.parts().empty() && !over()) turn();
  finish();
}

void ScriptKeeper::start_guardian() {
  released_elsewhere_.begin(session_.redis, kCleanupTime);  // before the guardian, which must know it, too
  const int no_guardian = processes_.guard(
      session_.signals, {.session = ::getpid(),
                         .script = *request_.script,
                         .when_nobody_lives = [this](const LeftAlone& alone) {
                           // It has the parts of the start, because it forked then.
                           release_in_guardian(
                               keys_, {.whom = "the keeper of the script", .elsewhere = &released_elsewhere_},
                               alone, session_.now());
                         }});
  if (no_guardian != 0) throw_system_error("cannot start a guardian", no_guardian);
}

/// Does the keeper go on? It does not if its parent took the lock back, or died: then this undoes the acquire.
bool ScriptKeeper::begin(const std::function<Start()>& at_work) {
  // All watches of the script's PID have begun. Only now can we be sure that the PID still belongs to the script that
  // asked for the lock.
  if (script_.ended()) {
    processes_.dismiss_guardian();
    throw Error{Error::system, fmt::format("process {} has ended", request_.script->pid)};
  }
  const Start start = at_work();
  if (start == Start::now) return true;
  processes_.dismiss_guardian();
  if (start != Start::parent_died) return false;
  // The script sees that rlock was killed, so it does not go on with the lock.
  const Patience patience{.until = plus(session_.now(), request_.lease),
                          .interrupted = [this] { return session_.signals.any(); }};
  const auto undone = undo_parts(session_.redis, keys_.parts(), patience);
  events_.ended(HoldOutcome::killed, elapsed(keys_.acquired().asked, session_.now()), released_of(undone));
  return false;
}

/// The hold has ended, or ends now: stops the renewal, releases what is left, and tells how it ended.
void ScriptKeeper::finish() {
  processes_.guard_release(std::nullopt);
  if (!renewed_.parts().empty()) forget_released();
  renewed_.stop(session_.loop.within(kCleanupTime));
  if (renewed_.parts().empty() || renewed_.loss()) processes_.dismiss_guardian();
  // A renewal that was answered after the last turn may have shown a loss.
  if (const auto loss = processes_.said_lost() ? std::nullopt : renewed_.loss()) {
    warn_late_loss(renewed_.names(), loss->why);
    events_.lost(loss->why);
  }
  const HoldEnd how = end();
  const bool lost = renewed_.loss().has_value();  // before the release, which may end later than the lease
  const bool leaves_it = !request_.stop.stop_on_loss && lost;
  const auto released = leaves_it ? std::optional{HoldReport::KeysEnd::no} : release_keys(how);
  events_.ended(lost || released == HoldReport::KeysEnd::no ? HoldOutcome::lost : how.outcome,
                elapsed(keys_.acquired().asked, session_.now()), released);
}

void ScriptKeeper::turn() {
  const TimePoint look_at = script_.ended() ? plus(session_.now(), kLookAgain) : kNever;
  session_.loop.turn(earliest(processes_.wake_at(), look_at));
  family_.look();
  if (!processes_.stopping() && renewed_.take_release()) forget_released();
  if (renewed_.parts().empty()) return;

  const TimePoint now = session_.now();
  const auto signal = session_.signals.ended();
  if (signal && !end_signal_ && !processes_.stopping() && !renewed_.loss()) {
    end_signal_ = signal;
    processes_.end(
        now, request_.budget.lost_grace,
        fmt::format("the keeper of {} was told to end by {}", renewed_.names(), signal_name(*signal)));
  }
  processes_.turn(now, [this] { return script_.ended(); });
}

/// Has the script ended? If it was told to end, its other processes must have ended, too: some may ignore the
/// signal that ended the script. With --on-lost warn, true also after a loss.
bool ScriptKeeper::over() {
  if (!request_.stop.stop_on_loss && processes_.said_lost()) return true;
  if (!script_.ended()) return false;
  if (!processes_.stopping()) return true;
  const TimePoint now = session_.now();
  if (processes_.others_must_end(now, nullptr)) return false;
  if (family_.surely_gone(now)) return true;
  rest_ends_ = earliest(rest_ends_, plus(now, kDoubtfulEnds));
  return now >= rest_ends_;
}

/// Drops the keys that the owner has released through another rlock: they are no loss.
void ScriptKeeper::forget_released() {
  renewed_.keep_only(released_elsewhere_.without_released(session_.redis, renewed_.parts(), kReleasedAnswer));
}

HoldEnd ScriptKeeper::end() {
  if (renewed_.parts().empty()) return {.outcome = HoldOutcome::released, .why = "its owner has released it"};
  if (const auto lost = renewed_.loss())
    return {.outcome = lost->by ? HoldOutcome::removed : HoldOutcome::lost,
            .why = lost->by.value_or(lost->why)};
  if (end_signal_) return {.outcome = HoldOutcome::interrupted, .signal = end_signal_};
  if (processes_.stopping()) return {.outcome = HoldOutcome::stopped, .why = processes_.asked_by()};
  return {.outcome = HoldOutcome::released, .why = "the script has ended"};
}

/// A process that the script has started may still work on what the keys protect.
void ScriptKeeper::leave_to_lease() {
  processes_.dismiss_guardian();
  warn(fmt::format(
      "not released, because a process that process {} has started may still run: {} expires within {}",
      request_.script->pid, renewed_.names(),
      describe(remaining(renewed_.keeper().lease().valid_until(), session_.now()))));
}

/// Returns what came of the release; empty: the keys are left to their lease.
std::optional<HoldReport::KeysEnd> ScriptKeeper::release_keys(const HoldEnd& how) {
  const std::vector<Part>& parts = renewed_.parts();
  if (parts.empty()) return HoldReport::KeysEnd::yes;
  if (processes_.stopping() && !family_.surely_gone(session_.now())) {
    leave_to_lease();
    return std::nullopt;
  }
  const TimePoint over = renewed_.keeper().lease().valid_until(), now = session_.now();
  const bool late = keys_.owner_returns() && now >= over;
  if (late && !renewed_.loss()) warn_late_loss(renewed_.names(), "its lease ended before the release");
  const Lost lost = renewed_.loss() || late ? Lost::yes : Lost::no;
  const EndingHold ending = ending_hold(keys_, parts, keys_.past(how, now), std::nullopt, lost, over);
  std::vector<ReleaseResult> answers =
      release_held(session_.redis, ending, session_.loop.within(cleanup_time(parts.size())));
  processes_.dismiss_guardian();
  return lost == Lost::yes ? HoldReport::KeysEnd::no : keys_end(std::move(answers));
}

/// What the answers to a release say of the keys. If one was not ours because its owner has released it elsewhere, that
/// is no loss.
HoldReport::KeysEnd ScriptKeeper::keys_end(std::vector<ReleaseResult> answers) {
  const std::vector<Part>& parts = renewed_.parts();
  std::vector<Part> gone;
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (answers[i].how == ReleaseResult::How::not_ours) gone.push_back(parts[i]);
  if (!gone.empty()) gone = released_elsewhere_.without_released(session_.redis, gone, kReleasedAnswer);
  if (gone.empty()) {
    std::erase_if(answers, [](const auto& answer) { return answer.how == ReleaseResult::How::not_ours; });
    return released_of(answers);
  }
  warn_late_loss(quoted(names_of(gone)));
  events_.lost(kLostAtRelease);
  return HoldReport::KeysEnd::no;
}

}  // namespace

void start_script_keeper(const HeldKeys& keys, Events& events, const std::function<void()>& then) {
  std::vector<int> kept = events.descriptors();
  if (may_keep_stderr(keys.request().script->pid)) kept.push_back(STDERR_FILENO);
  go_on_in_background([&](const std::function<Start()>& at_work) { ScriptKeeper{keys, events}.run(at_work); },
                      then, std::move(kept));
}

}  // namespace rlock
