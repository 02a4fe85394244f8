#include <utility>

#include "base/log.h"
#include "cmd/run/command_lookup.h"
#include "cmd/run/events.h"
#include "cmd/run/run.h"
#include "cmd/run/run_report.h"
#include "cmd/run/run_verbs.h"
#include "cmd/run/status_record.h"

namespace rlock {
namespace {

class RunVerb final : public Verb {
 public:
  void declare(VerbSpec& spec) override { declare_run(spec, options_, shell_); }

  int act(TimePoint started, std::vector<std::string> command) override {
    options_.started = started;
    known_ = report_of(options_);
    status_.open(options_.status_fd, options_.status_file);
    complete_run(options_, shell_, std::move(command));
    known_ = report_of(options_);
    listen(options_, status_, events_);
    auto [found, problem] = look_up(options_.command);
    if (problem) {
      complain(problem->text);
      known_.outcome = RunReport::Outcome::not_started;
      known_.exit = problem->exit_code;
      known_.error = problem->text;
      status_.write(known_);
      return problem->exit_code;
    }
    options_.found = std::move(found);
    return run(options_, status_, events_);
  }

  void failed(const Error& error) noexcept override {
    if (!status_.opened() && !open_after_refusal()) return;
    report_failed(known_, error);
    status_.write(known_);
  }

 private:
  /// Where not all words were understood: a record of an earlier run must not be taken for this one's.
  bool open_after_refusal() noexcept {
    known_ = report_of(options_);
    try {
      status_.open(options_.status_fd, options_.status_file);
      return true;
    } catch (const Error& error) {  // the second failure of this command line, which ends with the first
      complain(error.what());
      return false;
    }
  }

  RunOptions options_;
  std::optional<std::string> shell_;
  Events events_;
  StatusRecord status_;
  RunReport known_;  ///< what a failure is added to
};

constexpr VerbEntry kRow{
    "run", "run a command while you hold a lock", takes::nothing,
    "COMMAND's, or 75 busy, 69 no server, 124 stopped, 125 lock lost, 126 127 cannot run, 64 to 78 errors",
    create<RunVerb>};

}  // namespace

VerbRows run_verbs() { return {&kRow, 1}; }

}  // namespace rlock
