#include <utility>

#include "base/log.h"
#include "cmd/hold/report/events.h"
#include "cmd/hold/report/hold_report.h"
#include "cmd/run/report_options.h"
#include "cmd/run/run.h"
#include "cmd/run/run_options.h"
#include "cmd/run/run_verbs.h"
#include "cmd/run/status_output.h"

namespace rlock {
namespace {

class RunVerb final : public Verb {
 public:
  void declare(VerbSpec& spec) override { declare_run(spec, request_, typed_); }

  int act(TimePoint started, std::vector<std::string> command) override {
    request_.started = started;
    report_ = report_of(request_);
    check_reports(request_);
    status_.open(request_.status_fd, request_.status_file);
    complete_run(request_, typed_, std::move(command));
    report_ = report_of(request_);
    return run(request_, report_, status_, events_);
  }

  void failed(const Error& error) noexcept override {
    if (!status_.opened() && !open_after_refusal()) return;
    report_failed(report_, error);
    status_.write(report_);
  }

 private:
  /// Called if the command line was refused before the record was open. Opens it (--status-fd, --status-file), which
  /// removes the record of an earlier run: readers would take that for the record of this one. If --status-file names
  /// the file of --events, that file stays.
  bool open_after_refusal() noexcept {
    report_ = report_of(request_);
    try {
      status_.open(request_.status_fd, status_replaces_events(request_) ? "" : request_.status_file);
      return true;
    } catch (const Error& error) {  // the second failure; the first one decides the exit status
      warn(error.what());
      return false;
    }
  }

  RunRequest request_;
  TypedRun typed_;
  Events events_;
  StatusOutput status_;
  HoldReport report_;  ///< run() fills it in; after a failure it has the facts so far
};

}  // namespace

VerbRows run_verbs() {
  static constexpr VerbEntry kRow{
      .name = "run",
      .summary = "run a command while you hold a lock",
      .exits =
          "COMMAND's, or 75 busy, 69 no server, 124 stopped, 125 lock lost, 126 127 cannot run, 64 to 78 errors",
      .create = create<RunVerb>};
  return {&kRow, 1};
}

}  // namespace rlock
