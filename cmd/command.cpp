#include "cmd/command.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/text.h"
#include "cmd/exit_code.h"

namespace rlock {

std::optional<CannotRun> look_up(const std::string& command) {
  if (command.find('/') != std::string::npos) return std::nullopt;
  const char* path = std::getenv("PATH");
  // Without PATH the C library looks here.
  const std::string_view folders = path ? path : "/bin:/usr/bin";
  bool there = false;
  for (const std::string& folder : split(folders, ':')) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + command;
    struct stat facts{};
    if (::stat(file.c_str(), &facts) != 0) continue;
    there = true;
    if (S_ISREG(facts.st_mode) && ::access(file.c_str(), X_OK) == 0) return std::nullopt;
  }
  if (there)
    return CannotRun{exit_code::not_runnable,
                     fmt::format("cannot run {}: it is in PATH, but not executable", quoted(command))};
  return CannotRun{exit_code::not_found, fmt::format("cannot run {}: not found in PATH", quoted(command))};
}

}  // namespace rlock
