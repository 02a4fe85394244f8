#include "base/ancestry.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace rlock {
namespace {

/// The number in this field of /proc/PID/stat, counted as in proc(5); `fields` begins with number 3, the state. Returns 0
/// if the field is missing or is no number.
std::int64_t field(std::string_view fields, int number) {
  for (; number > 3; --number) {
    const std::size_t blank = fields.find(' ');
    if (blank == std::string_view::npos) return 0;
    fields.remove_prefix(blank + 1);
  }
  std::int64_t value = 0;
  std::from_chars(fields.data(), fields.data() + fields.size(), value);
  return value;
}

std::string look_up_pid_space() {
  constexpr std::size_t kBootId = 36;  // a UUID; a line feed follows
  std::array<char, kBootId> boot{};
  const Descriptor file{::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)};
  if (!file) return {};
  const ssize_t got = ::read(file.number(), boot.data(), boot.size());
  std::array<char, 64> space{};  // "pid:[4026531836]"
  const ssize_t size = ::readlink("/proc/self/ns/pid", space.data(), space.size());
  if (got != static_cast<ssize_t>(boot.size()) || size <= 0) return {};
  return std::string{boot.data(), boot.size()} + " " +
         std::string{space.data(), static_cast<std::size_t>(size)};
}

}  // namespace

// Most holds call it at their start, and searches for each process. So no stream and no string for each of the fifty
// fields is made.
std::optional<ProcessFacts> stat_of(std::int64_t pid) {
  errno = 0;
  const Descriptor file{::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) return std::nullopt;
  // Room for all fields up to the start time: the name has at most 64 bytes, and a number at most 20 digits.
  std::array<char, 1024> text{};
  const ssize_t got = ::read(file.number(), text.data(), text.size());
  const std::string_view line{text.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
  // The line is "pid (name) state parent ...". The name may contain blanks and parentheses, so it ends at the last
  // parenthesis.
  const std::size_t behind_name = line.rfind(") ");
  if (behind_name == std::string_view::npos || behind_name + 2 >= line.size()) return std::nullopt;
  const std::string_view fields = line.substr(behind_name + 2);
  constexpr int kParent = 4, kGroup = 5, kSession = 6, kFlags = 9, kThreads = 20, kStarted = 22;
  constexpr std::int64_t kOfKernel = 0x00200000;  // PF_KTHREAD of Linux
  return ProcessFacts{.pid = static_cast<pid_t>(pid),
                      .parent = static_cast<pid_t>(field(fields, kParent)),
                      .group = static_cast<pid_t>(field(fields, kGroup)),
                      .session = static_cast<pid_t>(field(fields, kSession)),
                      .state = fields.front(),
                      .of_kernel = (field(fields, kFlags) & kOfKernel) != 0,
                      .threads = static_cast<int>(field(fields, kThreads)),
                      .started = field(fields, kStarted)};
}

bool is_shortage(int error) noexcept { return error == EMFILE || error == ENFILE || error == ENOMEM; }

const std::string& pid_space() {
  static const std::string space = look_up_pid_space();
  return space;
}

std::optional<ProcessId> process_of(std::int64_t pid) {
  const std::optional<ProcessFacts> stat = stat_of(pid);
  if (!stat || !stat->alive()) return std::nullopt;
  return ProcessId{stat->pid, stat->started};
}

bool lives(const ProcessId& process) {
  const auto found = process_of(process.pid);
  // If no descriptor or memory is free, we cannot look into /proc. A script must not lose its lock because of that.
  if (!found && is_shortage(errno)) return true;
  return found == process;
}

bool is_ancestor(std::int64_t pid) {
  std::int64_t at = ::getppid();
  for (int depth = 0; at > 0 && depth < kDeepestAncestry; ++depth) {
    if (at == pid) return true;
    const std::optional<ProcessFacts> stat = stat_of(at);
    at = stat ? stat->parent : 0;
  }
  return false;
}

}  // namespace rlock
