#include "cmd/command.h"

#include <fmt/format.h>

#include <cerrno>

#include "base/text.h"
#include "cmd/exit_code.h"
#include "loop/program.h"

namespace rlock {

std::optional<CannotRun> look_up(const std::string& command) {
  const Found found = find_program(command, program_folders());
  if (found.error == 0) return std::nullopt;
  if (found.error == EACCES)
    return CannotRun{exit_code::not_runnable,
                     fmt::format("cannot run {}: it is in PATH, but not executable", in_quotes(command))};
  return CannotRun{exit_code::not_found, fmt::format("cannot run {}: not found in PATH", in_quotes(command))};
}

}  // namespace rlock
