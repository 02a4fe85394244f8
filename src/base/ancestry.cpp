#include "base/ancestry.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/text.h"

namespace rlock {
namespace {

/// Fields of /proc/PID/stat, counted from the one behind the name.
constexpr std::size_t kState = 0;
constexpr std::size_t kParent = 1;
constexpr std::size_t kStarted = 19;

/// The fields behind the name. Empty where nobody knows.
std::vector<std::string> stat_of(std::int64_t pid) {
  std::ifstream file{"/proc/" + std::to_string(pid) + "/stat"};
  std::string line;
  if (!std::getline(file, line, '\0')) return {};
  // "pid (name) state parent ...": the name may hold anything, so its end is the last parenthesis.
  const std::size_t behind_name = line.rfind(") ");
  if (behind_name == std::string::npos) return {};
  return split(line.substr(behind_name + 2), ' ');
}

/// 0 where nobody knows.
std::int64_t parent_of(std::int64_t pid) {
  const std::vector<std::string> stat = stat_of(pid);
  return stat.size() > kParent ? std::strtoll(stat[kParent].c_str(), nullptr, 10) : 0;
}

}  // namespace

std::optional<ProcessId> process_of(pid_t pid) {
  const std::vector<std::string> stat = stat_of(pid);
  if (stat.size() <= kStarted || stat[kState] == "Z" || stat[kState] == "X") return std::nullopt;
  return ProcessId{pid, std::strtoll(stat[kStarted].c_str(), nullptr, 10)};
}

bool lives(const ProcessId& process) { return process_of(process.pid) == process; }

bool is_ancestor(std::int64_t pid) {
  constexpr int kDeepest = 256;  // a chain that was read while it changed could lead in a circle
  std::int64_t at = ::getppid();
  for (int depth = 0; at > 0 && depth < kDeepest; ++depth, at = parent_of(at)) {
    if (at == pid) return true;
  }
  return false;
}

}  // namespace rlock
