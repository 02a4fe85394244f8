// A Keeper renews, StopRequests listens, and HeldCommand runs the command and stops it in time: it asks after every
// turn of the loop whether the lock is lost, and until when the command may run.
//
// The members are in this order because each uses those before it; so the guardian, which HeldCommand has started,
// is waited for first when the hold goes. The Keeper stops as soon as the command has ended, before anything is
// released: a renewal that is still under way would find the lock gone and call it lost.

#include "cmd/run/run_hold.h"

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "cmd/run/command_environment.h"
#include "cmd/run/guardian_release.h"
#include "cmd/run/inherited_hold.h"

namespace rlock {
namespace {

HoldFacts hold_facts(const RunOptions& opt, const HeldKeys& keys) {
  const std::vector<Held>& held = keys.taken().held;
  std::vector<std::int64_t> fences;
  for (const Held& one : held)
    if (one.fence) fences.push_back(*one.fence);
  std::vector<InheritedHold> stack = holds_above_us();  // all of them: a run inside ours may enter any
  std::ranges::copy(keys.holds(), std::back_inserter(stack));
  return {.keys = opt.names,
          .type = std::string{opt.type->name},
          .owner = keys.owner(),
          .fences = std::move(fences),
          .lease = opt.lease,
          .acquired_at = held.front().server_time,
          .waited = keys.waited(),
          .slots = held.front().slots,
          .stack = write_holds(stack)};
}

Variables variables_of(const RunOptions& opt, const HeldKeys& keys) {
  return for_command(opt, describe_hold(hold_facts(opt, keys)));
}

/// The marks by which the processes of this run are found. RLOCK_STACK ends with the run's own owner, and
/// nested runs only add lines to it. Two runs that join the same outer hold have the same RLOCK_STACK, so
/// RLOCK_OWNER and RLOCK_PID mark them instead.
std::vector<std::string> marks_of(const Variables& variables, bool enters) {
  std::vector<std::string> marks;
  for (const auto& [name, value] : variables) {
    const bool tells = enters ? name == "RLOCK_OWNER" || name == "RLOCK_PID" : name == "RLOCK_STACK";
    if (tells) marks.push_back(name + "=" + value.value_or(""));
  }
  return marks;
}

HoldOptions holding(const RunOptions& opt, const HeldKeys& keys) {
  HoldOptions options;
  options.command = {.argv = opt.command, .variables = variables_of(opt, keys), .found = opt.found};
  options.marks = marks_of(options.command.variables, keys.joins());
  options.signal = opt.signal;
  options.kill_after = opt.kill_after;
  if (opt.max_hold) options.max_hold = plus(keys.taken().asked, *opt.max_hold);
  options.stop_on_loss = opt.stop_on_loss;
  options.until_group = opt.until_group;
  return options;
}

HoldEnd end_by_guardian(RlockEnd end) {
  if (end == RlockEnd::killed) return {.outcome = "killed", .why = "rlock was killed"};
  return {.outcome = "lost", .why = "rlock was stopped, and could not renew it"};
}

/// Runs in the guardian if rlock was killed or stopped and the command's family has ended. --min-hold is
/// kept; with --once-per the next host may try.
void release_by_guardian(const RunOptions& opt, const HeldKeys& keys, RlockEnd end) {
  const PastHold past = keys.past(end_by_guardian(end));
  ReleaseOptions options;
  const bool keep = opt.min_hold > Milliseconds{0};
  if (keep) options.keep_until = past.facts.since + opt.min_hold;
  release_in_guardian(opt.deployment, opt.wait, opt.quorum_all,
                      keep ? keys.ending_kept(128 + SIGKILL, past) : keys.ending(keys.parts(), past),
                      options);
}

Keeper::Options renewing(const HeldKeys& keys, Events& events) {
  Keeper::Options options = keys.renewing();
  options.tell = [&events](const std::string& obstacle) { events.trouble(obstacle); };
  return options;
}

}  // namespace

/// Adds the variables that every command gets, with or without a lock.
Variables for_command(const RunOptions& opt, Variables variables) {
  std::ranges::copy(opt.deployment.environment, std::back_inserter(variables));
  if (opt.scrub_password) std::ranges::copy(without_passwords(), std::back_inserter(variables));
  return variables;
}

RunHold::RunHold(RunContext& run, const HeldKeys& keys)
    : run_(run),
      keys_(keys),
      keeper_(run.session.redis, renewing(keys, run.events)),
      requests_(run.session.redis, keys.parts(), keys.taken().asked),
      command_(run.session.loop, run.session.signals, lock(), options()) {}

RunHold::~RunHold() = default;

CommandOutcome RunHold::run_command() {
  CommandOutcome ended = command_.run();
  keeper_.stop(run_.session.loop.within(kCleanupTime));
  return ended;
}

std::optional<Loss> RunHold::loss() {
  if (!keeper_.lost()) return std::nullopt;
  if (keeper_.taken_away() && requests_.removed()) return Loss::removed_by(*requests_.removed());
  return Loss{keeper_.why()};
}

HeldLock RunHold::lock() {
  return {.name = run_.opt.all_keys(),
          .deadlines = [this] { return Deadlines{keeper_.stop_at(), keeper_.kill_at()}; },
          .renewed = run_.opt.renew,
          .asked_to_stop = [this] { return requests_.asked(); },
          .lost = [this]() -> std::optional<std::string> {
            if (requests_.take_removal()) keeper_.look_now();
            const auto lost = loss();
            return lost ? std::optional{lost->why} : std::nullopt;
          }};
}

HoldOptions RunHold::options() {
  HoldOptions options = holding(run_.opt, keys_);
  options.release_by_guardian = [this](RlockEnd end) { release_by_guardian(run_.opt, keys_, end); };
  options.tell_lost = [this](const std::string& why) { run_.events.lost(why); };
  options.tell_stopping = [this](const std::string& why) { run_.events.stopping(why); };
  return options;
}

}  // namespace rlock
