// The keeper of a script. It is a fork of the rlock that acquired the lock. Its loop, signals and connections
// are its own (Session), because those of the parent end with the parent.
//
// It holds the lock as `rlock run` does: RenewedKeys renews, and HeldProcesses guards and stops. But the script
// is no child of the keeper, and a signal to the keeper is meant for the keeper. Another rlock may release the
// lock while the script goes on. If the script was stopped, the keeper releases the lock only when all
// processes of the script have ended.

#include "cmd/hold/script_keeper.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/key_text.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/hold/guardian_release.h"
#include "cmd/hold/inherited_hold.h"
#include "cmd/hold/renewed_keys.h"
#include "cmd/hold/script_watch.h"
#include "cmd/server/session.h"
#include "family/script_family.h"
#include "process/background.h"
#include "sync/hold/release.h"
#include "sync/kinds/requests.h"
#include "sync/watch/holder_messages.h"

namespace rlock {
namespace {

/// The time for the question whether the owner has released the hold. After a loss, the stop of the script
/// waits for the answer.
constexpr Milliseconds kAnswer{250};

/// The pause between two looks for remaining processes, after the script was told to end and has ended.
constexpr Milliseconds kLookAgain{50};

/// How long to go on after KILL if the lock is lost: we may be unable to kill a process.
constexpr Milliseconds kLastTries{10000};

/// How long to keep the lock for a process of which we do not know whether it belongs to the script.
constexpr Milliseconds kRestEnds{1000};

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
        named_(request_.owner.has_value()),
        session_(request_.deployment, WaitOptions{}, Quorum::majority),
        family_(*request_.script, ::getpid()),
        renewed_(session_.redis, keys, session_.loop.now(),
                 [&events](const std::string& problem) { events.trouble(problem); }),
        script_(session_.loop, *request_.script),
        processes_(session_.loop, family_, renewed_.lock(), stop_options(request_, events)) {}

  /// Calls `at_work` when all watches have begun. If `at_work` returns false, leaves the lock alone.
  void run(const std::function<bool()>& at_work);

 private:
  void turn();
  bool over();
  using Numbers = std::vector<std::optional<std::string>>;
  Numbers release_numbers(const LockName& name, Milliseconds within);
  bool was_released(const LockName& name);
  void forget_released();
  HoldEnd end();
  HoldReport::Released release_keys(const HoldEnd& how);

  const HoldRequest& request_;
  const HeldKeys& keys_;
  Events& events_;
  const bool named_;  ///< the user named the owner: it may have other holds before and after this one
  std::map<LockName, Numbers> numbers_before_;  ///< if named: the release numbers of each key at the start
  Session session_;
  ScriptFamily family_;
  RenewedKeys renewed_;
  ScriptWatch script_;
  HeldProcesses processes_;
  std::optional<int> told_by_;  ///< the signal that told the keeper to end: the script has to end first
  TimePoint rest_ends_ = kNever;
};

void ScriptKeeper::run(const std::function<bool()>& at_work) {
  const int no_guardian = processes_.guard(
      session_.signals,
      {.session = ::getpid(), .script = *request_.script, .when_nobody_lives = [this](RlockEnd how) {
         release_in_guardian(keys_, renewed_.parts(), "the keeper of the script", how, session_.loop.now());
       }});
  if (no_guardian != 0) throw_system_error("cannot start a guardian", no_guardian);
  // All watches of the script's PID have begun. Only now can we be sure that the PID still belongs to the script that
  // asked for the lock.
  if (script_.ended()) {
    processes_.dismiss_guardian();
    throw Error{Error::system, fmt::format("process {} has ended", request_.script->pid)};
  }
  if (named_)
    for (const Part& part : renewed_.parts())
      numbers_before_[part.lock->name()] = release_numbers(part.lock->name(), kCleanupTime);
  if (!at_work()) return processes_.dismiss_guardian();
  while (!renewed_.parts().empty() && !over()) turn();
  processes_.dismiss_guardian();
  if (!renewed_.parts().empty()) forget_released();
  renewed_.stop(session_.loop.within(kCleanupTime));
  // A renewal that was answered after the last turn may have shown a loss.
  if (const auto loss = processes_.said_lost() ? std::nullopt : renewed_.loss()) {
    warn_late_loss(renewed_.names(), loss->why);
    events_.lost(loss->why);
  }
  const HoldEnd how = end();
  const bool lost = renewed_.loss().has_value();  // before the release, which may end later than the lease
  const bool leaves_it = !request_.stop.stop_on_loss && lost;
  const HoldReport::Released released = leaves_it ? HoldReport::Released::no : release_keys(how);
  events_.ended(lost || released == HoldReport::Released::no ? HoldOutcome::lost : how.outcome,
                elapsed(keys_.taken().asked, session_.loop.now()), released == HoldReport::Released::yes);
}

void ScriptKeeper::turn() {
  const TimePoint look_at = script_.ended() ? plus(session_.loop.now(), kLookAgain) : kNever;
  session_.loop.turn(earliest(processes_.wake_at(), look_at));
  family_.look();
  if (!processes_.stopping() && renewed_.may_be_released()) forget_released();
  if (renewed_.parts().empty()) return;

  const TimePoint now = session_.loop.now();
  const auto signal = session_.signals.ended();
  if (signal && !told_by_ && !processes_.stopping() && !renewed_.loss()) {
    told_by_ = signal;
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
  const TimePoint now = session_.loop.now();
  if (processes_.others_must_end(now, nullptr)) return false;
  if (family_.surely_gone(now)) return true;
  rest_ends_ = earliest(rest_ends_, plus(now, kRestEnds));
  return now >= rest_ends_;
}

/// The number of the last release of this key on each server; empty: the server has not answered.
ScriptKeeper::Numbers ScriptKeeper::release_numbers(const LockName& name, Milliseconds within) {
  Numbers numbers;
  for (const Vote& vote :
       session_.redis.run_all(ask_release_number(name, keys_.id()), {}, session_.loop.within(within))) {
    const Reply* reply = vote.good_reply();
    numbers.push_back(reply != nullptr ? std::optional{read_release_number(*reply)} : std::nullopt);
  }
  return numbers;
}

/// Has the owner released this hold through another rlock? If the user named the owner, a release number that differs
/// from that at the start says so, if both are known.
bool ScriptKeeper::was_released(const LockName& name) {
  if (named_) {
    const Numbers& before = numbers_before_[name];
    const Numbers numbers = release_numbers(name, kAnswer);
    for (std::size_t node = 0; node < numbers.size(); ++node)
      if (numbers[node] && before[node] && !numbers[node]->empty() && *numbers[node] != *before[node])
        return true;
    return false;
  }
  const Owner id = keys_.id();
  const auto inner = inner_hold_in(id);
  const Call question = inner ? ask_for_inner(name, inner->request) : ask_released(name, id);
  const Votes votes = session_.redis.run_all(question, {}, session_.loop.within(kAnswer));
  return std::ranges::any_of(votes, [&](const Vote& vote) {
    const Reply* reply = vote.good_reply();
    if (reply == nullptr) return false;
    return inner ? read_inner(*reply) == InnerState::ended : read_released(*reply);
  });
}

/// Drops the keys that the owner has released through another rlock: they are no loss.
void ScriptKeeper::forget_released() {
  renewed_.forget([&](const Part& part) { return was_released(part.lock->name()); });
}

HoldEnd ScriptKeeper::end() {
  if (renewed_.parts().empty()) return {.outcome = HoldOutcome::released, .why = "its owner has released it"};
  if (const auto lost = renewed_.loss())
    return {.outcome = lost->by ? HoldOutcome::removed : HoldOutcome::lost,
            .why = lost->by.value_or(lost->why)};
  if (told_by_) return {.outcome = HoldOutcome::interrupted, .signal = told_by_};
  if (processes_.stopping()) return {.outcome = HoldOutcome::stopped, .why = processes_.asked_by()};
  return {.outcome = HoldOutcome::released, .why = "the script has ended"};
}

/// Returns `no` if a key was lost before its release, and `kept` if the keys are left to their lease.
HoldReport::Released ScriptKeeper::release_keys(const HoldEnd& how) {
  const std::vector<Part>& parts = renewed_.parts();
  if (parts.empty()) return HoldReport::Released::yes;
  if (processes_.stopping() && !family_.surely_gone(session_.loop.now())) {
    warn(fmt::format(
        "not released, because a process that process {} has started may still run: {} expires within {}",
        request_.script->pid, renewed_.names(),
        describe(remaining(renewed_.keeper().lease().valid_until(), session_.loop.now()))));
    return HoldReport::Released::kept;
  }
  bool lost = renewed_.loss().has_value();
  const EndingHold ending{
      .keys = keys_, .parts = keys_.ending(parts, keys_.past(how, session_.loop.now())), .lost = lost};
  const auto answers = release_held(session_.redis, ending, session_.loop.within(cleanup_time(parts.size())));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].how != ReleaseResult::How::not_ours || lost || was_released(parts[i].lock->name()))
      continue;
    lost = true;
    warn_late_loss(quoted(parts[i].lock->name()));
    events_.lost(kLostAtRelease);
  }
  return lost ? HoldReport::Released::no : HoldReport::Released::yes;
}

}  // namespace

void start_script_keeper(const HeldKeys& keys, Events& events, const std::function<void()>& then) {
  std::vector<int> kept = events.descriptors();
  if (may_keep_stderr(keys.request().script->pid)) kept.push_back(STDERR_FILENO);
  go_on_in_background([&](const std::function<bool()>& at_work) { ScriptKeeper{keys, events}.run(at_work); },
                      then, std::move(kept));
}

}  // namespace rlock
