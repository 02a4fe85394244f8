#include "base/log.h"
#include "cmd/command.h"
#include "cmd/run.h"
#include "cmd/verbs.h"

namespace rlock {
namespace {

class RunVerb final : public Verb {
 public:
  Declaration declare() override { return declare_run(options_, shell_); }

  int act(TimePoint started, std::vector<std::string> command) override {
    options_.started = started;
    complete_run(options_, shell_, std::move(command));
    if (const auto problem = look_up(options_.command.front())) {
      complain(problem->text);
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
