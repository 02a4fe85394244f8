#pragma once

#include <chrono>
#include <thread>

namespace rlock::test {

using namespace std::chrono_literals;

/// Waits until `fact()` is true, at most `deadline`; says whether it became true.
/// The only way for a test to wait: it ends as soon as there is something to see.
template <class Fact>
bool eventually(Fact&& fact, std::chrono::milliseconds deadline = 5s) {
  const auto until = std::chrono::steady_clock::now() + deadline;
  auto pause = 1ms;
  while (!fact()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(pause);
    if (pause < 5ms) ++pause;
  }
  return true;
}

/// Is `fact()` true all the time for `span`? For what must not happen; costs the whole span when all is well.
template <class Fact>
bool throughout(Fact&& fact, std::chrono::milliseconds span) {
  return !eventually([&] { return !fact(); }, span);
}

/// How long it took since it was made: `CHECK(watch.elapsed() < 3s)`.
class StopWatch {
 public:
  std::chrono::milliseconds elapsed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_);
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace rlock::test
