#include "loop/script_tag.h"

#include <sys/resource.h>

namespace rlock {
namespace {

/// The letter R, then the pid (Linux has at most 2^22 of them), then the lower bits of the start time in clock
/// ticks: these repeat after five years.
constexpr int kMarkAt = 56, kNumberAt = 34;
constexpr ScriptTag kMark = ScriptTag{'R'} << kMarkAt;

/// A process that has left all scripts: no script has the pid 0.
constexpr ScriptTag kLeft = kMark;

/// A process that has shed its tag, and must get no other. Here, too, the pid is 0.
constexpr ScriptTag kShed = kMark | 1;

bool is_tag(rlim_t limit) { return limit >> kMarkAt == kMark >> kMarkAt; }

}  // namespace

ScriptTag tag_of(const ProcessId& script) noexcept {
  const auto started = static_cast<ScriptTag>(script.started) & ((ScriptTag{1} << kNumberAt) - 1);
  return kMark | static_cast<ScriptTag>(script.pid) << kNumberAt | started;
}

ScriptTag tag_on(pid_t pid) noexcept {
  rlimit limit{};
  if (::prlimit(pid, RLIMIT_LOCKS, nullptr, &limit) != 0) return 0;
  return is_tag(limit.rlim_cur) ? limit.rlim_cur : 0;
}

bool put_tag(pid_t pid, ScriptTag tag) noexcept {
  rlimit limit{};
  if (::prlimit(pid, RLIMIT_LOCKS, nullptr, &limit) != 0 || limit.rlim_max != RLIM_INFINITY) return false;
  limit.rlim_cur = tag;
  return ::prlimit(pid, RLIMIT_LOCKS, &limit, nullptr) == 0;
}

void shed_tag() noexcept { static_cast<void>(put_tag(0, kShed)); }

void leave_scripts() noexcept { static_cast<void>(put_tag(0, kLeft)); }

bool has_left_scripts(pid_t pid) noexcept { return tag_on(pid) == kLeft; }

}  // namespace rlock
