#include "loop/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/text.h"

namespace rlock {

Found find_program(const std::string& command, std::string_view folders) {
  if (command.find('/') != std::string::npos) return {command, 0};
  Found found{"", ENOENT};
  if (command.empty()) return found;
  for (const std::string& folder : split(folders, ':')) {
    const std::string file = folder.empty() ? command : std::string{folder}.append("/").append(command);
    struct stat facts;
    if (::stat(file.c_str(), &facts) != 0) continue;
    // "./x", so that the command is not searched for once more.
    if (S_ISREG(facts.st_mode) && ::access(file.c_str(), X_OK) == 0)
      return {folder.empty() ? "./" + file : file, 0};
    found.error = EACCES;
  }
  return found;
}

std::string_view program_folders() {
  const char* path = std::getenv("PATH");
  return path ? path : "/bin:/usr/bin";
}

}  // namespace rlock
