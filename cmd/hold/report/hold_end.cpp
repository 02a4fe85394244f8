#include "cmd/hold/report/hold_end.h"

#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "base/key_text.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/ask/unannounced.h"
#include "cmd/hold/report/hold_report.h"

namespace rlock {
namespace {

/// How long the end of a run waits for the history of a key.
constexpr Milliseconds kRemoverAnswer{250};

std::optional<std::string> remover_in(const History& history, const Owner& owner, Milliseconds since) {
  for (const PastHold& past : history.holds) {
    const bool removed =
        past.owner == owner && past.end.outcome == HoldOutcome::removed && past.ended >= since;
    if (removed && past.end.why) return sanitized(*past.end.why);
  }
  return std::nullopt;
}

/// Says what became of the release of a key. `expires_within`: see HeldKeys.
void report_release(const std::string& key, const ReleaseResult& answer,
                    std::optional<Milliseconds> expires_within) {
  if (answer.how == ReleaseResult::How::unknown)
    warn(fmt::format("release of {} not confirmed ({}); it {}", key, answer.why,
                     unconfirmed_end(expires_within)));
  else if (!answer.why.empty())
    debug(fmt::format("release of {} not confirmed by every server ({})", key, answer.why));
  if (answer.how != ReleaseResult::How::yes) return;
  debug("released " + key);
  say_unannounced("released " + key, answer.unannounced);
}

}  // namespace

std::string unconfirmed_end(std::optional<Milliseconds> expires_within) {
  return expires_within ? "expires within " + describe(*expires_within)
                        : "ends with the lease of the hold around it";
}

HoldEnd end_of(const CommandOutcome& ended, const std::optional<Loss>& lost) {
  HoldEnd end{.outcome = outcome_of(ended, lost ? Lost::yes : Lost::no)};
  if (lost && lost->by) end.outcome = HoldOutcome::removed;
  if (lost) end.why = lost->by.value_or(lost->why);
  if (!lost && ended.stopped_by) end.why = ended.stopped_by;
  switch (ended.how) {
    case CommandOutcome::How::exited: end.exit = ended.exit_code; break;
    case CommandOutcome::How::killed:
    case CommandOutcome::How::interrupted: end.signal = ended.signal; break;
    case CommandOutcome::How::not_started: end.why = std::strerror(ended.error); break;
    case CommandOutcome::How::too_late: break;
  }
  return end;
}

void warn_late_loss(std::string_view keys, std::string_view why) {
  warn(fmt::format("lost {}: {}, so another holder may have run meanwhile", keys, why));
}

std::vector<ReleaseResult> release_held(Redis& redis, const EndingHold& hold, const Patience& patience) {
  const auto may_be_anothers = [&](const Part& part) {
    return hold.lost == Lost::yes && hold.keys.owner_returns(part);
  };
  std::vector<Part> ours, left;
  for (const Part& part : hold.parts) (may_be_anothers(part) ? left : ours).push_back(part);
  const auto released =
      ours.empty() ? std::vector<ReleaseResult>{} : release(redis, ours, hold.options, patience);
  if (!left.empty()) record_end(redis, left, redis.loop().within(cleanup_time(left.size())));
  std::vector<ReleaseResult> answers;
  auto next = released.begin();
  for (const Part& part : hold.parts) {
    if (may_be_anothers(part)) {
      answers.push_back({.how = ReleaseResult::How::not_ours});
      continue;
    }
    report_release(quoted(part.lock->name()), *next, hold.keys.expires_within(part, hold.kept));
    answers.push_back(*next++);
  }
  return answers;
}

std::optional<std::string> removed_by(Redis& redis, const Lockable& lock, Milliseconds since) {
  const Votes votes =
      redis.run_all(ask_history(lock.name(), kLongestHistory), {}, redis.loop().within(kRemoverAnswer));
  for (const Vote& vote : votes) {
    if (vote.good_reply() == nullptr) continue;
    try {
      const History history = read_history(*vote.good_reply());
      if (auto remover = remover_in(history, lock.owner(), since)) return remover;
    } catch (const Error&) {  // a reply of another shape is ignored: the run ends anyway
      continue;
    }
  }
  return std::nullopt;
}

}  // namespace rlock
