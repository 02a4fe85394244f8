#include "process/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/text.h"

namespace rlock {

namespace {

enum class File { none, other, program };

File file_at(const std::string& path) {
  struct stat facts;
  if (::stat(path.c_str(), &facts) != 0) return File::none;
  return S_ISREG(facts.st_mode) && ::access(path.c_str(), X_OK) == 0 ? File::program : File::other;
}

}  // namespace

Found find_program(const std::string& command, std::string_view folders) {
  if (command.find('/') != std::string::npos) return {command, 0};
  Found found{"", ENOENT};
  if (command.empty()) return found;
  for (const std::string& folder : split(folders, ':')) {
    // "./x" has a slash, so exec does not search PATH again.
    const std::string path = std::string{folder.empty() ? "." : folder}.append("/").append(command);
    switch (file_at(path)) {
      case File::none: break;
      case File::other: found.error = EACCES; break;
      case File::program: return {path, 0};
    }
  }
  return found;
}

bool is_program(const std::string& path) { return file_at(path) == File::program; }

std::string_view program_folders() {
  const char* path = std::getenv("PATH");
  return path ? path : "/bin:/usr/bin";
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  all.reserve(words.size() + 1);
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

}  // namespace rlock
