// rlock completion bash | zsh | fish

#include "completion_scripts.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "cmd/app/app_verbs.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/output.h"
#include "cmd/server/server_options.h"

namespace rlock {
namespace {

/// The completion script of one shell.
struct ShellScript {
  std::string_view verb;
  std::string_view example;
  std::string_view script;
};

constexpr std::array kShells{
    ShellScript{"completion bash", "source <(rlock completion bash)", completion_scripts::kBash},
    ShellScript{"completion zsh", "source <(rlock completion zsh)", completion_scripts::kZsh},
    ShellScript{"completion fish", "rlock completion fish | source", completion_scripts::kFish}};

class PrintScript final : public Verb {
 public:
  void declare(VerbSpec& spec) override {
    spec.about = "Print a script by which the shell completes verbs, options, values and keys.";
    spec.examples = {{shell().example, ""}};
  }

  int act(TimePoint, std::vector<std::string>) override {
    print(shell().script);
    return exit_code::ok;
  }

 private:
  const ShellScript& shell() const { return *std::ranges::find(kShells, entry().name, &ShellScript::verb); }
};

}  // namespace

VerbRows completion_verbs() {
  static constexpr std::array kRows{
      VerbEntry{.name = kShells[0].verb,
                .summary = "print the completion script for bash",
                .create = create<PrintScript>},
      VerbEntry{.name = kShells[1].verb,
                .summary = "print the completion script for zsh",
                .create = create<PrintScript>},
      VerbEntry{.name = kShells[2].verb,
                .summary = "print the completion script for fish",
                .create = create<PrintScript>},
  };
  return kRows;
}

}  // namespace rlock
