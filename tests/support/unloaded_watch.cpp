#include "support/unloaded_watch.h"

#include <sstream>
#include <string>
#include <utility>

#include "support/process.h"

namespace rlock::test {
namespace {

/// The time for which the first thread of a process has waited for a processor.
std::chrono::nanoseconds waited_for_processor(pid_t process) {
  std::istringstream numbers{read_file("/proc/" + std::to_string(process) + "/schedstat")};
  long long ran = 0, waited = 0;
  numbers >> ran >> waited;
  return std::chrono::nanoseconds{waited};
}

}  // namespace

UnloadedWatch::UnloadedWatch(std::vector<pid_t> processes)
    : processes_(std::move(processes)), waited_before_(waited()) {}

std::chrono::nanoseconds UnloadedWatch::waited() const {
  std::chrono::nanoseconds all{0};
  for (const pid_t process : processes_) all += waited_for_processor(process);
  return all;
}

std::chrono::milliseconds UnloadedWatch::elapsed() const {
  const auto left_out = std::chrono::duration_cast<std::chrono::milliseconds>(waited() - waited_before_);
  return watch_.elapsed() - left_out;
}

std::chrono::milliseconds UnloadedWatch::until_end_of(pid_t process,
                                                      std::chrono::milliseconds deadline) const {
  eventually([&] { return !alive(process); }, deadline);
  return elapsed();
}

}  // namespace rlock::test
