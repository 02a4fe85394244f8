#include "cmd/cli/confirm.h"

#include "cmd/cli/terminal.h"

namespace rlock {

bool confirm(const std::string& question) {
  const std::string answer = ask_on_terminal(
      question + " [y/N] ",
      Error{Error::usage, "there is no terminal to ask on; to go on without a question: --yes"});
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace rlock
