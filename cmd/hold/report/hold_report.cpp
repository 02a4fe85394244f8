// The report of a run, which --status-file prints. It begins as a failure (report_of()). Each later step of the run
// fills in what it knows: report_gave_up(), report_acquired() or report_failed(), and at the end report_ended().

#include "cmd/hold/report/hold_report.h"

#include <algorithm>
#include <cstring>

#include "cmd/cli/exit_code.h"
#include "cmd/cli/json.h"

namespace rlock {
namespace {

std::string_view name_of(HoldReport::KeysEnd released) {
  switch (released) {
    case HoldReport::KeysEnd::yes: return "yes";
    case HoldReport::KeysEnd::no: return "no";
    case HoldReport::KeysEnd::kept: return "kept";
    case HoldReport::KeysEnd::unknown: return "unknown";
  }
  return "unknown";
}

}  // namespace

std::string HoldReport::json() const {
  // A failure of rlock leaves the release to the guardian or the lease.
  const auto shown = released || !locked ? released : KeysEnd::unknown;
  const auto node_json = [](const Node& node) {
    return Json::object({{"url", node.url},
                         {"granted", node.said == Answer::granted},
                         {"said", Json::word(text_of(node.said))}});
  };
  return Json::document({{"outcome", Json::word(text_of(outcome))},
                         {"exit", exit},
                         {"command_exit", command_exit},
                         {"command_signal", command_signal},
                         {"locked", locked},
                         {"keys", Json::keys(keys)},
                         {"type", Json::word(type)},
                         {"owner", owner ? Json::word(owner->str()) : Json{}},
                         {"fence", fence},
                         {"slots", slots ? Json::list(*slots) : Json{}},
                         {"waited_ms", waited},
                         {"held_ms", held},
                         {"released", shown ? Json::word(name_of(*shown)) : Json{}},
                         {"nodes", nodes ? Json::list(*nodes, node_json) : Json{}},
                         {"error", error}})
      .str();
}

HoldReport report_of(const HoldRequest& request) {
  HoldReport report;
  report.keys = request.names;
  report.type = (request.type != nullptr ? request.type : standard_lock_type())->name;
  return report;
}

std::string_view text_of(Answer answer) {
  switch (answer) {
    case Answer::granted: return "granted";
    case Answer::busy: return "busy";
    case Answer::refused: return "refused";
    case Answer::failed: return "failed";
    case Answer::late: return "late";
  }
  return "late";
}

namespace {

void report_nodes(HoldReport& report, const Redis& redis, const std::vector<Answer>& answers) {
  if (redis.nodes() == 1 || answers.empty()) return;
  report.nodes.emplace();
  for (std::size_t node = 0; node < redis.nodes(); ++node)
    report.nodes->push_back({redis.str(node), answers[node]});
}

}  // namespace

void report_failed(HoldReport& report, const Error& error) {
  report.outcome = error.kind() == Error::unreachable ? HoldOutcome::unreachable : HoldOutcome::error;
  report.exit = exit_code::of(error.kind());
  report.error = error.what();
}

void report_gave_up(HoldReport& report, const Redis& redis, const GaveUp& gave_up, int exit) {
  report.exit = exit;
  report_nodes(report, redis, gave_up.answers);
  if (gave_up.failure) report.error = gave_up.failure->text;
  switch (gave_up.why) {
    case GaveUp::Why::busy: report.outcome = HoldOutcome::busy; return;
    case GaveUp::Why::interrupted: report.outcome = HoldOutcome::interrupted; return;
    case GaveUp::Why::refused:
      report.outcome = HoldOutcome::error;
      report.error = gave_up.refused->text;
      return;
    case GaveUp::Why::unreachable: break;
  }
  const bool down = !gave_up.failure || gave_up.failure->kind == Error::unreachable;
  report.outcome = down ? HoldOutcome::unreachable : HoldOutcome::error;
}

void report_gave_up(HoldReport& report, const Redis& redis, const GaveUp& gave_up, const NotHeld& not_held) {
  report_gave_up(report, redis, gave_up, not_held.exit);
  switch (not_held.why) {
    case NotHeld::Why::deadlock:
    case NotHeld::Why::ancestor: report.outcome = HoldOutcome::deadlock; break;
    case NotHeld::Why::superseded: report.outcome = HoldOutcome::superseded; break;
    case NotHeld::Why::done: report.outcome = HoldOutcome::done; break;
    case NotHeld::Why::queue_full: report.outcome = HoldOutcome::busy; break;
    case NotHeld::Why::signal:
    case NotHeld::Why::script_ended:
    case NotHeld::Why::absent:
    case NotHeld::Why::other: break;
  }
}

void report_acquired(HoldReport& report, const Redis& redis, const Owner& owner, const Acquired& acquired,
                     Milliseconds waited) {
  report.locked = true;
  report.owner = owner;
  report.waited = waited;
  if (acquired.held.size() == 1) report.fence = acquired.held.front().fence;
  if (!acquired.held.front().slots.empty()) report.slots = acquired.held.front().slots;
  report_nodes(report, redis, acquired.answers);
}

HoldOutcome outcome_of(const CommandOutcome& ended, Lost lost) {
  switch (ended.how) {
    case CommandOutcome::How::interrupted: return HoldOutcome::interrupted;
    case CommandOutcome::How::too_late: return HoldOutcome::unreachable;
    case CommandOutcome::How::not_started: return HoldOutcome::not_started;
    case CommandOutcome::How::exited:
    case CommandOutcome::How::killed: break;
  }
  if (lost == Lost::yes) return HoldOutcome::lost;
  if (ended.stopped_by) return HoldOutcome::stopped;
  return ended.max_hold ? HoldOutcome::max_hold : HoldOutcome::ran;
}

void report_ended(HoldReport& report, const CommandOutcome& ended, const std::optional<std::string>& why_lost,
                  Milliseconds held, int exit) {
  report.exit = exit;
  report.held = held;
  report.outcome = outcome_of(ended, why_lost ? Lost::yes : Lost::no);
  if (ended.ran()) report.error = why_lost ? why_lost : ended.stopped_by;
  switch (ended.how) {
    case CommandOutcome::How::exited: report.command_exit = ended.exit_code; break;
    case CommandOutcome::How::killed: report.command_signal = ended.signal; break;
    case CommandOutcome::How::not_started: report.error = std::strerror(ended.error); break;
    case CommandOutcome::How::too_late: report.error = kTooLate; break;
    case CommandOutcome::How::interrupted: break;
  }
}

HoldReport::KeysEnd released_of(const std::vector<ReleaseResult>& answers) {
  const auto any = [&](ReleaseResult::How how) {
    return std::ranges::count(answers, how, &ReleaseResult::how) > 0;
  };
  if (any(ReleaseResult::How::not_ours)) return HoldReport::KeysEnd::no;
  if (any(ReleaseResult::How::unknown)) return HoldReport::KeysEnd::unknown;
  return any(ReleaseResult::How::kept) ? HoldReport::KeysEnd::kept : HoldReport::KeysEnd::yes;
}

HoldReport::KeysEnd released_of(const std::vector<Undone>& undone) {
  const auto any = [&](Undone one) { return std::ranges::count(undone, one) > 0; };
  if (any(Undone::unconfirmed)) return HoldReport::KeysEnd::unknown;
  return any(Undone::freed) || any(Undone::one_hold) ? HoldReport::KeysEnd::yes : HoldReport::KeysEnd::no;
}

}  // namespace rlock
