#include "cmd/view/history_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "base/text.h"
#include "cmd/view/holder_text.h"
#include "loop/signals.h"

namespace rlock {
namespace {

/// Shorter waits are not printed, because each acquire takes some milliseconds.
constexpr Milliseconds kWorthSaying{1000};

/// A time in the reader's time zone.
std::string local_time(ServerTime time) {
  const std::time_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  std::tm parts{};
  std::array<char, 64> text{};
  if (::localtime_r(&seconds, &parts) == nullptr) return "?";
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return {text.data(), length};
}

/// "alice@ci-7 pid 4121 (make) "hotfix 42"", like a holder without an age.
std::string who(const PastHold& past) {
  Metadata facts = past.facts;
  facts.ended_at.reset();
  return facts.host.empty() ? holder_text({.owner = past.owner}, std::nullopt)
                            : holder_text({.owner = past.owner, .facts = facts}, std::nullopt);
}

std::string mode_of(const PastHold& past) {
  return past.type == "read" ? "reads " : past.type == "write" ? "writes " : "";
}

/// How the hold ended: "exit 0", "stopped by alice@ops: stuck since noon".
std::string end_text(const HoldEnd& end) {
  const std::string why = end.why ? sanitized(*end.why) : "";
  const auto because = [&](const std::string& text) { return why.empty() ? text : text + ": " + why; };
  const std::string status = end.signal ? signal_name(*end.signal)
                             : end.exit ? fmt::format("exit {}", *end.exit)
                                        : "";
  const std::string then = status.empty() ? "" : fmt::format(" ({})", status);
  switch (end.outcome) {
    case HoldOutcome::ran: return status.empty() ? "ended" : status;
    case HoldOutcome::max_hold: return "stopped by --max-hold" + then;
    case HoldOutcome::stopped: return fmt::format("stopped by {}{}", why.empty() ? "rlock stop" : why, then);
    case HoldOutcome::removed:
      return fmt::format("removed by {}{}", why.empty() ? "another client" : why, then);
    case HoldOutcome::not_started: return because("the command was not started");
    case HoldOutcome::interrupted:
      return end.signal ? because("interrupted by " + signal_name(*end.signal)) : because("interrupted");
    case HoldOutcome::killed: return why.empty() ? "killed" : why;
    case HoldOutcome::busy:
    case HoldOutcome::unreachable:
    case HoldOutcome::lost:
    case HoldOutcome::deadlock:
    case HoldOutcome::superseded:
    case HoldOutcome::done:
    case HoldOutcome::error:
    case HoldOutcome::released:
    case HoldOutcome::unknown: break;
  }
  return because(sanitized(end.word())) + then;
}

}  // namespace

std::string past_text(const PastHold& past) {
  const bool worth_saying = past.waited && *past.waited >= kWorthSaying;
  const std::string waited = worth_saying ? fmt::format(", waited {}", describe(*past.waited)) : "";
  if (past.facts.host.empty())  // the start of the hold is unknown
    return fmt::format("{}  {}{}: {}", local_time(past.ended), mode_of(past), who(past), end_text(past.end));
  return fmt::format("{}  {}{}{}, held {}: {}", local_time(past.facts.since), mode_of(past), who(past),
                     waited, describe(past.held()), end_text(past.end));
}

std::string last_text(const PastHold& past, ServerTime now) {
  return fmt::format("last: {}{}, {} ago: {}", mode_of(past), who(past),
                     describe(std::max(now - past.ended, Milliseconds{0})), end_text(past.end));
}

Json past_json(const PastHold& past) {
  const Metadata& facts = past.facts;
  return Json::object({{"owner", past.owner.str()},
                       {"type", past.type},
                       {"since", facts.since},
                       {"ended_at", past.ended},
                       {"waited_ms", past.waited},
                       {"held_ms", past.held()},
                       {"outcome", past.end.word()},
                       {"exit", past.end.exit},
                       {"signal", past.end.signal},
                       {"why", past.end.why},
                       {"meta", Json::object({{"host", facts.host},
                                              {"pid", facts.pid},
                                              {"user", facts.user},
                                              {"command", facts.command},
                                              {"reason", facts.reason},
                                              {"url", facts.url}})}});
}

}  // namespace rlock
