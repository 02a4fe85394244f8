#include "cmd/run/status.h"

#include <fmt/format.h>

#include <cstring>

#include "base/log.h"
#include "base/text.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/output.h"
#include "cmd/run/status_file.h"

namespace rlock {
namespace {

/// Set once, by `run`: a failure may reach main from anywhere, when nothing else of the run is left.
struct Destination {
  std::optional<std::int64_t> fd;
  StatusFile file;
  RunReport report;
  bool written = true;
} destination;

std::string_view name_of(RunReport::Outcome outcome) {
  switch (outcome) {
    case RunReport::Outcome::ran: return "ran";
    case RunReport::Outcome::busy: return "busy";
    case RunReport::Outcome::unreachable: return "unreachable";
    case RunReport::Outcome::lost: return "lost";
    case RunReport::Outcome::max_hold: return "max-hold";
    case RunReport::Outcome::not_started: return "not-started";
    case RunReport::Outcome::interrupted: return "interrupted";
    case RunReport::Outcome::error: return "error";
  }
  return "error";
}

std::string_view name_of(RunReport::Released released) {
  switch (released) {
    case RunReport::Released::yes: return "yes";
    case RunReport::Released::no: return "no";
    case RunReport::Released::kept: return "kept";
    case RunReport::Released::unknown: return "unknown";
  }
  return "unknown";
}

}  // namespace

std::string RunReport::json() const {
  Json servers;
  if (nodes) {
    std::vector<Json> items;
    for (const Node& node : *nodes)
      items.push_back(
          Json::object({{"url", node.url}, {"granted", node.granted}, {"said", Json::word(node.said)}}));
    servers = Json::array(items);
  }
  return Json::object({{"v", 1},
                       {"outcome", Json::word(name_of(outcome))},
                       {"exit", exit},
                       {"command_exit", command_exit},
                       {"command_signal", command_signal},
                       {"keys", Json::keys(keys)},
                       {"type", Json::word(type)},
                       {"owner", owner ? Json::word(owner->str()) : Json{}},
                       {"fence", fence},
                       {"slots", slots ? Json::list(*slots) : Json{}},
                       {"waited_ms", waited},
                       {"held_ms", held},
                       {"released", released ? Json::word(name_of(*released)) : Json{}},
                       {"nodes", servers},
                       {"error", error}})
      .str();
}

void open_status(std::optional<std::int64_t> fd, const std::string& file, const RunReport& report) {
  destination = {
      .fd = fd, .file = {}, .report = report, .written = true};  // nothing is, should the file be refused
  if (fd) keep_from_command(static_cast<int>(*fd));
  if (!file.empty()) destination.file = StatusFile{file};
  destination.written = !fd && file.empty();
}

void foresee_status(const RunReport& report) { destination.report = report; }

void write_status(const RunReport& report) noexcept {
  if (destination.written) return;
  destination.written = true;
  const std::string line = report.json() + "\n";
  if (destination.fd) {
    if (const int failed = write_all(static_cast<int>(*destination.fd), line))
      complain(fmt::format("cannot write the status to descriptor {}: {}", *destination.fd,
                           std::strerror(failed)));
  }
  if (destination.file.named()) {
    if (const int failed = destination.file.write(line))
      complain(fmt::format("cannot write the status to {}: {}", in_quotes(destination.file.path()),
                           std::strerror(failed)));
  }
}

void write_failed_status(Error::Kind kind, const std::string& text) noexcept {
  if (destination.written) return;
  RunReport report = destination.report;
  report.outcome = kind == Error::unreachable ? RunReport::Outcome::unreachable : RunReport::Outcome::error;
  report.exit = exit_code::of(kind);
  report.error = text;
  write_status(report);
}

}  // namespace rlock
