#include "process/script_tag.h"

#include <signal.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

#include "process/processes.h"

namespace rlock {
namespace {

/// A tag is the letter R, the pid, and the lower bits of the start time in clock ticks. Linux has at most 2^22 pids,
/// and these bits of the time repeat after five years.
constexpr int kMarkAt = 56, kNumberAt = 34;
constexpr ScriptTag kMark = ScriptTag{'R'} << kMarkAt;

/// The tag of a process that has left all scripts. No script has the pid 0.
constexpr ScriptTag kLeft = kMark;

/// The tag of a process that has shed its own, and must get no other. Here, too, the pid is 0.
constexpr ScriptTag kShed = kMark | 1;

bool is_tag(rlim_t limit) { return limit >> kMarkAt == kMark >> kMarkAt; }

ScriptTag tag_in(rlim_t limit) { return is_tag(limit) ? limit : 0; }

/// The tag in /proc/PID/limits, which every user may read.
ScriptTag shown_tag(pid_t pid) {
  constexpr std::string_view kLine = "\nMax file locks ";
  const std::string limits = proc_text(pid, "limits");
  const std::size_t at = limits.find(kLine);
  return at == std::string::npos ? 0 : tag_in(std::strtoull(limits.c_str() + at + kLine.size(), nullptr, 10));
}

}  // namespace

ScriptTag tag_of(const ProcessId& script) noexcept {
  const auto started = static_cast<ScriptTag>(script.started) & ((ScriptTag{1} << kNumberAt) - 1);
  return kMark | static_cast<ScriptTag>(script.pid) << kNumberAt | started;
}

/// The kernel refuses prlimit() for a process with another user or group, unless we have CAP_SYS_RESOURCE. Root in a
/// container lacks it, but may signal such a process.
ScriptTag tag_on(pid_t pid) {
  rlimit limit{};
  if (::prlimit(pid, RLIMIT_LOCKS, nullptr, &limit) == 0) return tag_in(limit.rlim_cur);
  return errno == EPERM && ::kill(pid, 0) == 0 ? shown_tag(pid) : 0;
}

ScriptTag tag_beyond_us(pid_t pid) { return ::kill(pid, 0) != 0 && errno == EPERM ? shown_tag(pid) : 0; }

bool put_tag(pid_t pid, ScriptTag tag) noexcept {
  rlimit limit{};
  if (::prlimit(pid, RLIMIT_LOCKS, nullptr, &limit) != 0 || limit.rlim_max != RLIM_INFINITY) return false;
  limit.rlim_cur = tag;
  return ::prlimit(pid, RLIMIT_LOCKS, &limit, nullptr) == 0;
}

void shed_tag() noexcept { static_cast<void>(put_tag(0, kShed)); }

void leave_scripts() noexcept { static_cast<void>(put_tag(0, kLeft)); }

bool has_left_scripts(pid_t pid) { return tag_on(pid) == kLeft; }

}  // namespace rlock
