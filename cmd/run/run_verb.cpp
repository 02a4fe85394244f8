#include "base/log.h"
#include "cmd/run/command.h"
#include "cmd/run/run.h"
#include "cmd/run/run_report.h"
#include "cmd/run/status.h"
#include "cmd/verbs/verbs.h"

namespace rlock {
namespace {

class RunVerb final : public Verb {
 public:
  VerbSpec spec() override { return declare_run(options_, shell_); }

  /// A report of an earlier run must not be taken for this one's.
  void misunderstood() override {
    open_status(options_.status_fd, options_.status_file, report_of(options_));
  }

  int act(TimePoint started, std::vector<std::string> command) override {
    options_.started = started;
    open_status(options_.status_fd, options_.status_file, report_of(options_));
    complete_run(options_, shell_, std::move(command));
    RunReport report = report_of(options_);
    foresee_status(report);
    if (const auto problem = look_up(options_.command)) {
      complain(problem->text);
      report.outcome = RunReport::Outcome::not_started;
      report.exit = problem->exit_code;
      report.error = problem->text;
      write_status(report);
      return problem->exit_code;
    }
    return run(options_);
  }

 private:
  RunOptions options_;
  std::optional<std::string> shell_;
};

}  // namespace

std::unique_ptr<Verb> run_verb() { return std::make_unique<RunVerb>(); }

}  // namespace rlock
