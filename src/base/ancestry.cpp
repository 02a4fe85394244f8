#include "base/ancestry.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

namespace rlock {
namespace {

/// What /proc/PID/stat says of a process. Each run reads this once: so without a stream, and without a word
/// for each of its fifty fields.
struct Stat {
  char state = 'X';
  std::int64_t parent = 0;
  std::int64_t started = 0;
};

/// The field at `number`, counted from the state; 0 where it is no number.
std::int64_t field(std::string_view fields, std::size_t number) {
  for (; number > 0; --number) {
    const std::size_t blank = fields.find(' ');
    if (blank == std::string_view::npos) return 0;
    fields.remove_prefix(blank + 1);
  }
  std::int64_t value = 0;
  std::from_chars(fields.data(), fields.data() + fields.size(), value);
  return value;
}

std::optional<Stat> stat_of(std::int64_t pid) {
  const int fd = ::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::array<char, 1024> text{};  // the name has 15 bytes, and each number 20 digits at most
  const ssize_t got = ::read(fd, text.data(), text.size());
  ::close(fd);
  const std::string_view line{text.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
  // "pid (name) state parent ...": the name may hold anything, so its end is the last parenthesis.
  const std::size_t behind_name = line.rfind(") ");
  if (behind_name == std::string_view::npos || behind_name + 2 >= line.size()) return std::nullopt;
  const std::string_view fields = line.substr(behind_name + 2);
  constexpr std::size_t kParent = 1;
  constexpr std::size_t kStarted = 19;
  return Stat{fields.front(), field(fields, kParent), field(fields, kStarted)};
}

}  // namespace

std::optional<ProcessId> process_of(std::int64_t pid) {
  const std::optional<Stat> stat = stat_of(pid);
  if (!stat || stat->state == 'Z' || stat->state == 'X') return std::nullopt;
  return ProcessId{static_cast<pid_t>(pid), stat->started};
}

bool lives(const ProcessId& process) { return process_of(process.pid) == process; }

bool is_ancestor(std::int64_t pid) {
  constexpr int kDeepest = 256;  // a chain that was read while it changed could lead in a circle
  std::int64_t at = ::getppid();
  for (int depth = 0; at > 0 && depth < kDeepest; ++depth) {
    if (at == pid) return true;
    const std::optional<Stat> stat = stat_of(at);
    at = stat ? stat->parent : 0;
  }
  return false;
}

}  // namespace rlock
