// The keeper of a script. It is a fork of the rlock that took the lock, and shares nothing with it but what
// both know: its loop, signals and connections are its own (Session), since those of the parent end with it.
//
// ScriptKeeper::run() is the story. Each turn looks at facts: has the script ended? Was the hold released by
// its owner, elsewhere? Is it lost, or are we told to end? Only the last two stop the script; after them the
// lock is given back when the script and all that it has started have ended, and never before.

#include "cmd/run/script_keeper.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include "base/key_text.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/run/guardian_release.h"
#include "cmd/run/hold_end.h"
#include "cmd/run/script_watch.h"
#include "cmd/server/session.h"
#include "loop/background.h"
#include "loop/family.h"
#include "loop/guardian.h"
#include "redis/mailbox.h"
#include "sync/hold/keeper.h"
#include "sync/hold/release.h"
#include "sync/watch/holder_messages.h"

namespace rlock {
namespace {

/// How long the question may take whether the owner has released the hold. The stop of a script that has lost
/// its lock waits for the answer.
constexpr Milliseconds kAnswer{250};

/// After a script was told to end: how often to look for its remaining processes. The kernel does not
/// report their end.
constexpr Milliseconds kLookAgain{50};

/// For how long after KILL, where the lock is lost anyway: a process may not be ours to kill.
constexpr Milliseconds kLastTries{10000};

/// How long the lock is kept for processes that are not the script's as far as we know, and may be.
constexpr Milliseconds kRestEnds{1000};

class ScriptKeeper {
 public:
  ScriptKeeper(const HoldRequest& request, const HeldKeys& keys, const Owner& id)
      : request_(request),
        keys_(keys),
        id_(id),
        session_(request.deployment, WaitOptions{}, false),
        family_(Family::of_script(*request.script, ::getpid())),
        parts_(keys.parts()),
        script_(session_.loop, *request.script),
        mailbox_(session_.redis),
        escalation_(request.signal) {
    keep();
  }

  /// `at_work`: called when nothing can go unnoticed any more.
  void run(const std::function<void()>& at_work);

 private:
  enum class Phase { keeping, stopping };

  void keep();
  void turn();
  bool over();
  void forget_released();
  void look_for_reasons(const std::vector<Message>& messages);
  void begin_to_stop(std::string_view why, HoldEnd end, const Deadlines& until);
  Loss loss() const;
  Deadlines deadlines() const;
  std::string names() const;
  void release_keys();

  const HoldRequest& request_;
  const HeldKeys& keys_;
  const Owner id_;
  Session session_;
  Family family_;
  std::vector<Part> parts_;  ///< those that nobody has released meanwhile
  std::optional<Keeper> keeper_;
  std::optional<Guardian> guardian_;
  ScriptWatch script_;
  Mailbox mailbox_;
  Escalation escalation_;
  Phase phase_ = Phase::keeping;
  TimePoint rest_ends_ = kNever;
  Deadlines told_to_end_;                  ///< by a signal or a request: then the script has to end first
  std::optional<std::string> removed_by_;  ///< who says so
  HoldEnd end_{.outcome = "released", .why = "the script has ended"};
};

/// In the guardian: the keeper was killed or stopped, and so was the script.
void release_for(const HoldRequest& request, const HeldKeys& keys, const std::vector<Part>& parts,
                 RlockEnd end) {
  const HoldEnd killed{.outcome = "killed", .why = "the keeper of the script was killed"};
  const HoldEnd stopped{.outcome = "lost",
                        .why = "the keeper of the script was stopped, and could not renew it"};
  const PastHold past = keys.past(end == RlockEnd::killed ? killed : stopped);
  release_in_guardian(request.deployment, WaitOptions{}, false, keys.ending(parts, past), {});
}

/// Starts to keep parts_, with as much of the lease as is known to be left.
void ScriptKeeper::keep() {
  Keeper::Options options = keys_.renewing();
  if (keeper_) options.lease = keeper_->lease();
  options.parts = parts_;
  keeper_.emplace(session_.redis, std::move(options));
  std::vector<Channel> channels;
  for (const Part& part : parts_) channels.push_back(holder_channel(part.lock->name(), part.lock->owner()));
  mailbox_.listen_to(std::move(channels));
}

void ScriptKeeper::run(const std::function<void()>& at_work) {
  if (request_.stop_on_loss) {
    guardian_.emplace(
        session_.loop,
        Guarded{.signal = request_.signal,
                .session = ::getpid(),
                .script = *request_.script,
                .marks = {},
                .when_nobody_lives = [this](RlockEnd end) { release_for(request_, keys_, parts_, end); }},
        deadlines());
    if (guardian_->start_errno() != 0)
      throw Error{Error::system,
                  fmt::format("cannot start a guardian: {}", std::strerror(guardian_->start_errno()))};
  }
  // Behind everything that knows the script by its number alone: it is still the one that asked for the lock.
  if (script_.ended()) {
    if (guardian_) guardian_->dismiss();
    throw Error{Error::system, fmt::format("process {} has ended", request_.script->pid)};
  }
  at_work();
  while (!parts_.empty() && !over() && (request_.stop_on_loss || !keeper_->lost())) turn();
  if (guardian_) guardian_->dismiss();
  keeper_->stop(within(kCleanupTime));
  if (keeper_->lost() && !request_.stop_on_loss && !parts_.empty())
    return complain(fmt::format("lost {}: {}; the script runs on (--on-lost warn)", names(), loss().why));
  release_keys();
}

void ScriptKeeper::turn() {
  const TimePoint look_at = script_.ended() ? plus(session_.loop.now(), kLookAgain) : kNever;
  session_.loop.turn(phase_ == Phase::stopping ? earliest(escalation_.wake_at(deadlines()), look_at)
                                               : kNever);
  family_.look();
  const std::vector<Message> messages = mailbox_.take();
  const auto has_text = [](const Message& message) { return message.text.has_value(); };
  if (phase_ == Phase::keeping && (std::ranges::any_of(messages, has_text) || keeper_->lost()))
    forget_released();
  if (parts_.empty()) return;

  if (guardian_) guardian_->tell(deadlines());
  look_for_reasons(messages);
  if (phase_ == Phase::keeping) return;
  while (const auto signal = escalation_.next(session_.loop.now(), deadlines())) {
    const std::vector<pid_t> refused = family_.signal(*signal);
    if (!refused.empty()) mention(fmt::format("may not signal {} (another user's)", refused.front()));
    if (guardian_) guardian_->tell_stop_sent();
  }
}

/// Why the script has to end: its lock is lost, a signal ends its keeper, or somebody asks for it.
void ScriptKeeper::look_for_reasons(const std::vector<Message>& messages) {
  if (phase_ == Phase::stopping) return;
  const TimePoint now = session_.loop.now();
  for (const Message& message : messages) {
    const auto removal = message.text ? read_removal_notice(*message.text) : std::nullopt;
    if (!removed_by_) removed_by_ = removal;
    if (removal && !keeper_->lost()) keeper_->look_now();
  }
  if (keeper_->lost() && request_.stop_on_loss) {
    const Loss lost = loss();
    return begin_to_stop(fmt::format("lost {}: {}", names(), lost.why),
                         {.outcome = lost.by ? "removed" : "lost", .why = lost.by.value_or(lost.why)}, {});
  }
  if (const auto signal = session_.signals.ended()) {
    const std::string why =
        fmt::format("the keeper of {} was told to end by {}", names(), signal_name(*signal));
    return begin_to_stop(why, {.outcome = "interrupted", .signal = signal},
                         {now, plus(now, request_.budget.lost_grace)});
  }
  for (const Message& message : messages) {
    const auto asked = message.text ? read_stop_request(*message.text) : std::nullopt;
    if (asked)
      return begin_to_stop(fmt::format("asked to end by {}", *asked), {.outcome = "stopped", .why = asked},
                           {now, plus(now, request_.kill_after)});
  }
}

Loss ScriptKeeper::loss() const {
  return keeper_->taken_away() && removed_by_ ? Loss::removed_by(*removed_by_) : Loss{keeper_->why()};
}

void ScriptKeeper::begin_to_stop(std::string_view why, HoldEnd end, const Deadlines& until) {
  phase_ = Phase::stopping;
  end_ = std::move(end);
  told_to_end_ = until;
  const std::string then = request_.signal == SIGKILL
                               ? ""
                               : ", SIGKILL in " + describe(remaining(deadlines().kill, session_.loop.now()));
  complain(fmt::format("{}; stopping process {}: {} now{}", why, request_.script->pid,
                       signal_name(request_.signal), then));
}

Deadlines ScriptKeeper::deadlines() const {
  const Deadlines of_lock =
      request_.stop_on_loss ? Deadlines{keeper_->stop_at(), keeper_->kill_at()} : Deadlines{};
  return earliest(of_lock, told_to_end_);
}

/// The script has ended; and where it was told to, so has all that it has started: somebody of them may ignore
/// the signal that ended the script.
bool ScriptKeeper::over() {
  if (!script_.ended()) return false;
  if (phase_ == Phase::keeping) return true;
  if (family_.all().empty()) {
    rest_ends_ = earliest(rest_ends_, plus(session_.loop.now(), kRestEnds));
    return family_.surely_gone() || session_.loop.now() >= rest_ends_;
  }
  return keeper_->lost() && session_.loop.now() >= plus(deadlines().kill, kLastTries);
}

/// What the owner has released elsewhere is not ours to keep any more, and no loss.
void ScriptKeeper::forget_released() {
  const std::size_t before = parts_.size();
  std::erase_if(parts_, [&](const Part& part) {
    const Call question = ask_released(part.lock->name(), id_);
    const Votes votes = session_.redis.run_all(question, {}, within(kAnswer));
    return std::ranges::any_of(votes, [](const Vote& vote) {
      const Reply* reply = vote.good_reply();
      return reply != nullptr && read_released(*reply);
    });
  });
  if (parts_.size() < before && !parts_.empty()) keep();
}

std::string ScriptKeeper::names() const { return quoted(names_of(parts_)); }

void ScriptKeeper::release_keys() {
  if (parts_.empty()) return;
  if (phase_ == Phase::stopping && !family_.surely_gone())
    return complain(fmt::format(
        "not released, because a process that process {} has started may still run: {} expires within {}",
        request_.script->pid, names(),
        describe(remaining(keeper_->lease().valid_until(), session_.loop.now()))));
  const auto answers = release(session_.redis, keys_.ending(parts_, keys_.past(end_)), {},
                               within(cleanup_time(parts_.size())));
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (answers[i].how == ReleaseResult::How::unknown)
      complain(fmt::format("release of {} not confirmed ({}); it frees itself within {}",
                           quoted(parts_[i].lock->name()), answers[i].why, describe(request_.lease)));
}

}  // namespace

void start_script_keeper(const HoldRequest& request, const HeldKeys& keys, const Owner& id) {
  go_on_in_background(
      [&](const std::function<void()>& at_work) { ScriptKeeper{request, keys, id}.run(at_work); });
}

}  // namespace rlock
