#pragma once

#include <chrono>
#include <thread>

namespace rlock::test {

using namespace std::chrono_literals;

/// Waits until `fact()` is true, at most `deadline`. Returns whether it became true. Tests wait for facts by this
/// function, because it returns as soon as the fact is true. A test sleeps only if it tests the time itself. Examples
/// are the length of a fault, the pace of a deed, and a time in which nothing may happen.
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

/// Is `fact()` true all the time for `span`? For facts that must stay true. A passing check takes the whole
/// span.
template <class Fact>
bool throughout(Fact&& fact, std::chrono::milliseconds span) {
  return !eventually([&] { return !fact(); }, span);
}

/// Measures the time since its construction: `CHECK(watch.elapsed() < 3s)`.
class StopWatch {
 public:
  std::chrono::milliseconds elapsed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_);
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace rlock::test
