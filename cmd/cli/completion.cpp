// rlock completion bash | zsh | fish

#include "completion_scripts.h"

#include "cmd/cli/exit_code.h"
#include "cmd/cli/output.h"
#include "cmd/server/server_options.h"
#include "cmd/verbs/verbs.h"

namespace rlock {
namespace {

class PrintScript final : public Verb {
 public:
  PrintScript(std::string_view name, std::string_view usage, std::string_view example, std::string_view text)
      : name_(name), usage_(usage), example_(example), text_(text) {}

  VerbSpec spec() override {
    VerbSpec spec{.verb = name_,
                  .usage = {usage_},
                  .about = "Print what teaches the shell to complete verbs, options, values and keys.",
                  .examples = {{example_, ""}}};
    declare_verbosity_elsewhere(spec);
    return spec;
  }

  int act(TimePoint, std::vector<std::string>) override {
    print(text_);
    return exit_code::ok;
  }

 private:
  std::string_view name_, usage_, example_, text_;
};

}  // namespace

std::unique_ptr<Verb> completion_bash_verb() {
  return std::make_unique<PrintScript>("completion bash", "completion bash",
                                       "source <(rlock completion bash)", completion_scripts::kBash);
}

std::unique_ptr<Verb> completion_zsh_verb() {
  return std::make_unique<PrintScript>("completion zsh", "completion zsh", "source <(rlock completion zsh)",
                                       completion_scripts::kZsh);
}

std::unique_ptr<Verb> completion_fish_verb() {
  return std::make_unique<PrintScript>("completion fish", "completion fish", "rlock completion fish | source",
                                       completion_scripts::kFish);
}

}  // namespace rlock
