#include "process/script_tag.h"

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

#include "process/processes.h"

namespace rlock {
namespace {

/// A tag is the letter R, the number of the script, and that of the script around it.
constexpr int kMarkAt = 56, kNumberBits = 28;
constexpr ScriptTag kMark = ScriptTag{'R'} << kMarkAt;
constexpr ScriptNumber kNumber = (ScriptNumber{1} << kNumberBits) - 1;

/// The tag of a process that has left all scripts. No script has the number 0.
constexpr ScriptTag kLeft = kMark;

/// The tag of a process that has shed its own, and must get no other. No script has the number 1.
constexpr ScriptTag kShed = kMark | 1;

bool is_tag(rlim_t limit) { return limit >> kMarkAt == kMark >> kMarkAt; }

ScriptTag tag_in(rlim_t limit) { return is_tag(limit) ? limit : 0; }

/// The tag in /proc/PID/limits, which every user may read.
ScriptTag shown_tag(pid_t pid) {
  constexpr std::string_view kLine = "\nMax file locks ";
  const std::string limits = proc_text(pid, "limits").value_or("");
  const std::size_t at = limits.find(kLine);
  return at == std::string::npos ? 0 : tag_in(std::strtoull(limits.c_str() + at + kLine.size(), nullptr, 10));
}

}  // namespace

ScriptNumber number_of(const ProcessId& script) noexcept {
  // Odd numbers whose bits are well mixed: two scripts get the same 28 bits by chance only.
  std::uint64_t hash = static_cast<std::uint64_t>(script.pid) * 0x9e3779b97f4a7c15U;
  hash = (hash ^ static_cast<std::uint64_t>(script.started)) * 0xd6e8feb86659fd93U;
  return std::max(static_cast<ScriptNumber>(hash >> (64 - kNumberBits)), ScriptNumber{2});
}

ScriptNumber script_in(ScriptTag tag) noexcept {
  return static_cast<ScriptNumber>(tag >> kNumberBits) & kNumber;
}

ScriptNumber outer_in(ScriptTag tag) noexcept {
  return script_in(tag) == 0 ? 0 : static_cast<ScriptNumber>(tag) & kNumber;
}

ScriptTag tag_of(const ProcessId& script, ScriptTag before) noexcept {
  const ScriptNumber own = number_of(script);
  if (script_in(before) == own) return before;  // another keeper of the same script has put it
  return kMark | ScriptTag{own} << kNumberBits | script_in(before);
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
