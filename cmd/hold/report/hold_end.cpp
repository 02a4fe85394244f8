#include "cmd/hold/report/hold_end.h"

#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/hold/report/hold_report.h"

namespace rlock {
namespace {

/// How long the end of a run waits for the history of a key.
constexpr Milliseconds kRemoverAnswer{250};

std::optional<std::string> remover_in(const History& history, const Owner& owner, ServerTime since) {
  for (const PastHold& past : history.holds) {
    const bool removed =
        past.owner == owner && past.end.outcome == HoldOutcome::removed && past.ended >= since;
    if (removed && past.end.why) return sanitized(*past.end.why);
  }
  return std::nullopt;
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

std::optional<std::string> removed_by(Redis& redis, const Lockable& lock, ServerTime since) {
  const Votes votes =
      redis.run_all(ask_history(lock.name(), kLongestHistory), {}, redis.loop().within(kRemoverAnswer));
  for (const Vote& vote : votes) {
    if (const auto history = history_in(vote))
      if (auto remover = remover_in(*history, lock.owner(), since)) return remover;
  }
  return std::nullopt;
}

}  // namespace rlock
