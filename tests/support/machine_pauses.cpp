#include "support/machine_pauses.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "support/witness.h"

namespace rlock::test {
namespace {

constexpr useconds_t kSleep = 1000;

/// Shorter pauses are normal for a scheduler.
constexpr std::int64_t kLate = 20'000'000;

}  // namespace

MachinePauses::MachinePauses() {
  cpu_set_t ours;
  CPU_ZERO(&ours);
  ::sched_getaffinity(0, sizeof ours, &ours);
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &ours))
      threads_.emplace_back([this, processor](const std::stop_token& stop) { look(stop, processor); });
}

void MachinePauses::look(const std::stop_token& stop, int processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  ::sched_setaffinity(0, sizeof one, &one);  // both calls change this thread only
  ::setpriority(PRIO_PROCESS, 0, -20);
  std::int64_t before = boottime_ns();
  while (!stop.stop_requested()) {
    ::usleep(kSleep);
    const std::int64_t now = boottime_ns();
    if (now - before > kLate) {
      const std::lock_guard lock{mutex_};
      pauses_.push_back({before, now});
    }
    before = now;
  }
}

std::int64_t MachinePauses::between(std::int64_t from, std::int64_t to) const {
  std::vector<Pause> pauses;
  {
    const std::lock_guard lock{mutex_};
    pauses = pauses_;
  }
  std::ranges::sort(pauses, {}, &Pause::from);
  std::int64_t all = 0;
  for (const Pause& pause : pauses) {
    from = std::max(from, pause.from);
    const std::int64_t until = std::min(to, pause.to);
    if (until <= from) continue;
    all += until - from;
    from = until;
  }
  return all;
}

}  // namespace rlock::test
