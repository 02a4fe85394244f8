#include "cmd/run/command_lookup.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/text.h"
#include "cmd/cli/exit_code.h"
#include "process/program.h"

namespace rlock {

namespace {

bool is_folder(const std::string& path) {
  struct stat facts{};
  return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

}  // namespace

std::string if_it_is_for_a_shell(const std::vector<std::string>& command) {
  const std::string& line = command.front();
  if (command.size() > 1 || line.find_first_of(" \t\n|&;<>$`\"'*?()") == std::string::npos) return "";
  return fmt::format("; did you mean: -c {}", shell_quoted(line));
}

CommandLookup look_up(const std::vector<std::string>& words) {
  const std::string& command = words.front();
  if (command.find('/') != std::string::npos) {
    if (!is_folder(command)) return {};
    return {.problem = CannotRun{exit_code::not_runnable,
                                 fmt::format("cannot run {}: it is a directory", in_quotes(command))}};
  }
  Found found = find_program(command, program_folders());
  if (found.error == 0) return {.found = std::move(found.path)};
  if (found.error == EACCES)
    return {.problem = CannotRun{
                exit_code::not_runnable,
                fmt::format("cannot run {}: it is in PATH, but not executable", in_quotes(command))}};
  return {.problem =
              CannotRun{exit_code::not_found, fmt::format("cannot run {}: not found in PATH{}",
                                                          in_quotes(command), if_it_is_for_a_shell(words))}};
}

}  // namespace rlock
