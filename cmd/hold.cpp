#include "cmd/hold.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "loop/child.h"

namespace rlock {
namespace {

std::vector<std::string> merged(const Variables& variables) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    bool ours = false;
    for (const auto& [name, value] : variables) ours = ours || text.starts_with(name + "=");
    if (!ours) all.push_back(text);
  }
  for (const auto& [name, value] : variables) {
    if (value) all.push_back(name + "=" + *value);
  }
  return all;
}

}  // namespace

Ended hold(Loop& loop, Keeper& keeper, const HoldOptions& options) {
  Child child{loop, options.argv, merged(options.variables)};
  Ended ended;
  ended.not_started = child.exec_errno();
  bool stopped = false;
  while (!child.exited()) {
    loop.turn(earliest(keeper.stop_at(), options.max_hold));
    if (!keeper.lost() || !options.stop_on_loss) continue;
    if (Clock::now() >= keeper.kill_at()) child.signal(SIGKILL);
    if (!stopped) child.signal(options.signal);
    stopped = true;
  }
  ended.exit_code =
      WIFEXITED(child.wait_status()) ? WEXITSTATUS(child.wait_status()) : 128 + WTERMSIG(child.wait_status());
  if (WIFSIGNALED(child.wait_status())) ended.signal = WTERMSIG(child.wait_status());
  return ended;
}

}  // namespace rlock
