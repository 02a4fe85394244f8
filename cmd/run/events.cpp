#include "cmd/run/events.h"

#include <chrono>
#include <utility>

namespace rlock {
namespace {

using Weight = Event::Weight;

Milliseconds since_epoch() {
  return std::chrono::duration_cast<Milliseconds>(std::chrono::system_clock::now().time_since_epoch());
}

}  // namespace

void Events::open(const RunOptions& options) {
  keys_ = options.names;
  wanted_ = !options.events.empty() || !options.syslog.empty();
  if (!options.events.empty()) file_.open(options.events);
  if (!options.syslog.empty()) log_.open(options.syslog);
}

void Events::waiting(const Waiting& seen) {
  if (seen.failure != nullptr) return trouble(seen.failure->text);
  if (seen.busy == nullptr) return;
  trouble({});
  const Busy& busy = *seen.busy;
  if (!holder_.empty() && holder_ == busy.holder && place_ == busy.position) return;
  holder_ = busy.holder.empty() ? "?" : busy.holder;
  place_ = busy.position;
  tell("waiting", Weight::info,
       {{"holder", busy.holder.empty() ? Json{} : Json{busy.holder}}, {"place", busy.position}});
}

void Events::acquired(const RunReport& report) {
  if (!wanted_) return;
  trouble({});
  acquired_ = true;
  tell("acquired", Weight::info,
       {{"owner", report.owner}, {"fence", report.fence}, {"waited_ms", report.waited}});
}

void Events::trouble(std::string_view why) {
  if (troubled_ == !why.empty()) return;
  troubled_ = !why.empty();
  if (troubled_)
    tell("trouble", Weight::warning, {{"why", why}});
  else
    tell("recovered", Weight::notice, {});
}

void Events::lost(std::string_view why) {
  if (std::exchange(said_lost_, true)) return;
  tell("lost", Weight::error, {{"why", why}});
}

void Events::stopping(std::string_view why) { tell("stopping", Weight::notice, {{"why", why}}); }

void Events::runs_without_lock(const RunReport& report) {
  gave_up_ = true;
  tell("gave-up", Weight::warning,
       {{"outcome", text_of(report.outcome)}, {"exit", nullptr}, {"why", report.error}});
}

void Events::ended(const RunReport& report) {
  if (!wanted_) return;
  const std::string_view outcome = text_of(report.outcome);
  if (!acquired_ && !gave_up_)
    return tell("gave-up", Weight::notice,
                {{"outcome", outcome}, {"exit", report.exit}, {"why", report.error}});
  if (report.outcome == RunReport::Outcome::lost) lost(report.error.value_or(""));
  const bool gone = !report.released || *report.released == RunReport::Released::no;
  tell(gone ? "ended" : "released", Weight::info,
       {{"outcome", outcome}, {"exit", report.exit}, {"held_ms", report.held}});
}

void Events::tell(std::string_view name, Weight weight,
                  std::vector<std::pair<std::string_view, Json>> fields) noexcept {
  const Event event{
      .name = name, .weight = weight, .at = since_epoch(), .keys = keys_, .fields = std::move(fields)};
  file_.write(event);
  log_.write(event);
}

}  // namespace rlock
