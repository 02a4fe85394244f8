#include "base/ancestry.h"

#include <unistd.h>

#include <fstream>
#include <string>

namespace rlock {
namespace {

/// 0 where nobody knows.
std::int64_t parent_of(std::int64_t pid) {
  std::ifstream file{"/proc/" + std::to_string(pid) + "/stat"};
  std::string line;
  if (!std::getline(file, line)) return 0;
  // "pid (name) state parent ...": the name may hold anything, so its end is the last parenthesis.
  const std::size_t behind_name = line.rfind(") ");
  if (behind_name == std::string::npos || behind_name + 4 >= line.size()) return 0;
  return std::strtoll(line.c_str() + behind_name + 4, nullptr, 10);
}

}  // namespace

bool is_ancestor(std::int64_t pid) {
  constexpr int kDeepest = 256;  // a chain that was read while it changed could lead in a circle
  std::int64_t at = ::getppid();
  for (int depth = 0; at > 0 && depth < kDeepest; ++depth, at = parent_of(at)) {
    if (at == pid) return true;
  }
  return false;
}

}  // namespace rlock
