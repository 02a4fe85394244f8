#include "cmd/hold/report/events.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "base/text.h"

namespace rlock {
namespace {

using Weight = Event::Weight;

Milliseconds since_epoch() {
  return std::chrono::duration_cast<Milliseconds>(std::chrono::system_clock::now().time_since_epoch());
}

/// "ended" if rlock has released no hold: it sent no release, or the keys were not ours.
std::string_view name_of_end(std::optional<HoldReport::KeysEnd> released) {
  return !released || released == HoldReport::KeysEnd::no ? "ended" : "released";
}

}  // namespace

void Events::open(const HoldRequest& request) {
  keys_ = request.names;
  pid_ = request.script ? request.script->pid : ::getpid();
  open_outputs(request.events, request.syslog);
}

void Events::open_outputs(const std::string& file, const std::string& socket) {
  if (!file.empty()) file_.open(file);
  if (!socket.empty()) log_.open(socket);
  wanted_ = !file.empty() || !socket.empty();
}

void Events::listen_to(StopOptions& options) {
  options.report_lost = [this](const std::string& why) { lost(why); };
  options.report_stopping = [this](const std::string& why) { stopping(why); };
}

std::vector<int> Events::descriptors() const {
  std::vector<int> open;
  for (const int one : {file_.descriptor(), log_.descriptor()})
    if (one >= 0) open.push_back(one);
  return open;
}

void Events::waiting(const Waiting& seen) {
  if (seen.failure != nullptr) return trouble(seen.failure->text);
  if (seen.busy == nullptr) return;
  trouble({});
  const Busy& busy = *seen.busy;
  const std::string holder = busy.holder.empty() ? "?" : busy.holder;
  if (holder_ == holder && place_ == busy.position) return;
  holder_ = holder;
  place_ = busy.position;
  write("waiting", Weight::info,
        {{"holder", busy.holder.empty() ? Json{} : Json{busy.holder}}, {"place", busy.position}});
}

void Events::acquired(const HoldReport& report) {
  if (!wanted_) return;
  trouble({});
  acquired_ = true;
  write("acquired", Weight::info,
        {{"owner", report.owner}, {"fence", report.fence}, {"waited_ms", report.waited}});
}

void Events::trouble(std::string_view why) {
  if (troubled_ == !why.empty()) return;
  troubled_ = !why.empty();
  if (troubled_)
    write("trouble", Weight::warning, {{"why", why}});
  else
    write("recovered", Weight::notice, {});
}

void Events::lost(std::string_view why) {
  if (std::exchange(said_lost_, true)) return;
  write("lost", Weight::error, {{"why", why}});
}

void Events::stopping(std::string_view why) { write("stopping", Weight::notice, {{"why", why}}); }

void Events::runs_without_lock(const HoldReport& report) {
  gave_up_ = true;
  write("gave-up", Weight::warning,
        {{"outcome", text_of(report.outcome)}, {"exit", nullptr}, {"why", report.error}});
}

void Events::ended(const HoldReport& report) {
  if (!std::exchange(wanted_, false)) return;  // a failure after the end must not report another end
  if (!acquired_ && !gave_up_)
    return write("gave-up", Weight::notice,
                 {{"outcome", text_of(report.outcome)}, {"exit", report.exit}, {"why", report.error}});
  if (report.outcome == HoldOutcome::lost) lost(report.error.value_or(""));
  end(name_of_end(report.released), report.outcome, report.exit, report.held);
}

void Events::ended(HoldOutcome outcome, Milliseconds held, std::optional<HoldReport::KeysEnd> released) {
  end(name_of_end(released), outcome, std::nullopt, held);
}

void Events::killed(const HoldRequest& request, const PastHold& past) {
  Events events;
  events.keys_ = request.names;
  events.pid_ = static_cast<pid_t>(past.facts.pid);
  events.open_outputs(parse_count(request.events) ? "" : request.events, request.syslog);
  events.end("released", past.end.outcome, std::nullopt, past.held());
}

void Events::end(std::string_view name, HoldOutcome outcome, std::optional<int> exit,
                 std::optional<Milliseconds> held) {
  write(name, Weight::info, {{"outcome", text_of(outcome)}, {"exit", exit}, {"held_ms", held}});
}

void Events::write(std::string_view name, Weight weight, Json::Fields fields) noexcept {
  const Event event{.name = name,
                    .weight = weight,
                    .at = since_epoch(),
                    .pid = pid_,
                    .keys = keys_,
                    .fields = std::move(fields)};
  file_.write(event);
  log_.write(event);
}

}  // namespace rlock
