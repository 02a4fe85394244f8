#include "base/blocking.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <thread>

using namespace rlock;
using namespace std::chrono_literals;

TEST_CASE(
    "a wait of fifty days lasts until something is there, although poll() counts milliseconds in an int") {
  std::array<int, 2> pipe{};
  REQUIRE(::pipe(pipe.data()) == 0);
  std::thread writer{[&] {
    std::this_thread::sleep_for(100ms);
    CHECK(::write(pipe[1], "x", 1) == 1);
  }};
  constexpr Milliseconds kFiftyDays{(std::int64_t{1} << 32) + 1};  // as an int: 1 ms
  CHECK(wait_until_ready(pipe[0], POLLIN, within(kFiftyDays).until));
  writer.join();
  for (const int end : pipe) ::close(end);
}
