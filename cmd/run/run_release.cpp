// These steps must keep their order. The release comes before any output, so that the next holder does not wait
// for our terminal or a full disk. If we are killed before it is confirmed, the guardian releases and reports the end.
// So the guardian goes before we report the end. The answers to the release may show that the lock had been lost; then
// the messages, the record and the exit status say so.

#include "cmd/run/run_release.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/key_text.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/hold/keep/release_held.h"
#include "cmd/run/run_command.h"
#include "cmd/run/run_hold.h"
#include "sync/hold/release.h"

namespace rlock {
namespace {

using How = CommandOutcome::How;

/// Does the key stay, for --min-hold or because the work is done?
bool stays(const RunRequest& request, const CommandOutcome& ended, Lost lost) {
  return lost == Lost::no && ended.done_exit && request.keeps_after(ended.done_exit);
}

/// If no message named the remover in time, the history of a key may name it. Empty: it does not.
std::optional<Loss> loss_in_history(Redis& redis, const HeldKeys& keys, ServerTime since) {
  const TimePoint until = plus(redis.loop().now(), kCleanupTime);  // whatever the number of keys
  for (const Part& part : keys.parts()) {
    if (redis.loop().now() >= until) return std::nullopt;
    const auto remover = removed_by(redis, *part.lock, since);
    if (!remover) continue;
    Loss loss = Loss::removed_by(*remover);
    warn(fmt::format("{} was {}", quoted(part.lock->name()), loss.why));
    return loss;
  }
  return std::nullopt;
}

/// The release found no hold of ours: the lock was lost, even if the keeper did not know. `known`: what it knew.
std::optional<Loss> loss_at_release(Redis& redis, const HeldKeys& keys, ServerTime since,
                                    const CommandOutcome& ended, std::optional<Loss> known) {
  if (!known && ended.ran()) known = Loss{std::string{kLostAtRelease}};
  if (!known || known->by) return known;
  const std::optional<Loss> loss = loss_in_history(redis, keys, since);
  return loss ? loss : known;
}

/// If one of several keys was removed, its remover has recorded that end. This end is for the other keys.
HoldEnd end_for_history(const RunRequest& request, const CommandOutcome& ended,
                        const std::optional<Loss>& lost) {
  HoldEnd end = end_of(ended, lost);
  if (!lost || !lost->by || request.names.size() == 1) return end;
  end.outcome = HoldOutcome::lost;
  end.why = fmt::format("one of {} was {}", request.all_keys(), lost->why);
  return end;
}

/// Without the mark that the work is done, another host would do it again. So a release that writes the mark is tried
/// as long as the lock is ours, unless the user insists on the end.
Patience until_marked(const Patience& usual, const Keeper& keeper, const Session& session) {
  return {.until = std::max(usual.until, keeper.lease().valid_until()),
          .interrupted = [&session] { return session.signals.insisted(); }};
}

/// Releases all keys, and prints what the user should know about it.
HoldReport::KeysEnd release_and_report(RunContext& run, RunHold& hold, const PastHold& past,
                                       const CommandOutcome& ended) {
  const RunRequest& request = run.request;
  const HeldKeys& keys = hold.keys();
  const Lost lost = hold.keeper().lost() ? Lost::yes : Lost::no;
  if (lost == Lost::yes) hold.dismiss_guardian();  // it could release a later hold of the same owner
  if (lost == Lost::yes && ended.ran() && !ended.said_lost)
    warn_late_loss(request.all_keys(), hold.keeper().why());
  const bool keep = stays(request, ended, lost);
  const EndingHold ending =
      ending_hold(keys, keys.parts(), past, keep ? std::optional{ended.exit_code} : std::nullopt, lost,
                  hold.keeper().lease().valid_until());
  const bool marks = keep && request.once_per;
  const Patience usual = run.session.loop.within(cleanup_time(ending.parts.size()));
  const std::vector<ReleaseResult> answers = release_held(
      run.session.redis, ending, marks ? until_marked(usual, hold.keeper(), run.session) : usual);
  hold.dismiss_guardian();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::string key = quoted(ending.parts[i].lock->name());
    if (answers[i].how == ReleaseResult::How::kept)
      debug(fmt::format("{} is kept by {}", key, marks ? "--once-per" : "--min-hold"));
    if (answers[i].how == ReleaseResult::How::not_ours && lost == Lost::no) warn_late_loss(key);
  }
  return released_of(answers);
}

/// Names the processes that the command left.
void name_processes_left(const RunRequest& request, const std::vector<pid_t>& left,
                         HoldReport::KeysEnd released) {
  const std::string past = released == HoldReport::KeysEnd::yes
                               ? fmt::format("released {}", request.all_keys())
                               : fmt::format("the command of {} has ended", request.all_keys());
  warn(fmt::format("{} while {} still {} (--until group waits for it)", past, fmt::join(left, ", "),
                   left.size() == 1 ? "runs" : "run"));
}

void say_how_it_ended(const RunRequest& request, const CommandOutcome& ended, HoldReport::KeysEnd released) {
  say_why_it_did_not_start(request, ended);
  if (ended.how == How::too_late) warn(fmt::format("{} was {}", request.all_keys(), kTooLate));
  if (ended.left_hidden)
    warn(fmt::format(
        "the command of {} has ended, but others of its process group may still run: /proc does not show them",
        request.all_keys()));
  if (!ended.left.empty()) name_processes_left(request, ended.left, released);
}

}  // namespace

Lost release_keys(RunContext& run, RunHold& hold, const CommandOutcome& ended) {
  std::optional<Loss> loss = hold.loss();
  const PastHold past = hold.keys().past(end_for_history(run.request, ended, loss), run.session.now());
  const HoldReport::KeysEnd released = release_and_report(run, hold, past, ended);
  if (released == HoldReport::KeysEnd::no)
    loss = loss_at_release(run.session.redis, hold.keys(), past.facts.since, ended, std::move(loss));
  say_how_it_ended(run.request, ended, released);
  run.report.released = released;
  // A quorum may answer before two nodes have told their run ids. Only now do we know whether they are one
  // server.
  if (const auto twice = run.session.redis.same_server_twice()) warn(twice->text);
  const Lost lost = loss ? Lost::yes : Lost::no;
  report_ended(run.report, ended, loss ? std::optional{loss->why} : std::nullopt, hold.lasted(),
               exit_of(run.request, ended, lost));
  run.status.write(run.report);
  return lost;
}

}  // namespace rlock
