#include "support/bystander.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <stdexcept>

#include "support/resp_client.h"

namespace rlock::test {
namespace {

constexpr std::chrono::milliseconds kPause{1};

/// The processor time that the server's main thread has used, in nanoseconds.
long long worked(const std::string& clock) {
  const std::string text = read_file(clock);
  if (text.empty()) throw std::runtime_error{"no " + clock};
  return std::stoll(text);
}

}  // namespace

Bystander::Bystander(const RedisServer& server)
    : clock_("/proc/" + std::to_string(server.pid()) + "/schedstat"),
      thread_([this, where = server.where()] { ping(where); }) {
  worked(clock_);
}

Bystander::~Bystander() {
  ends_ = true;
  thread_.join();
}

void Bystander::ping(const std::string& where) {
  // Asks for real-time priority. While this thread waits for a processor, the server's work for other commands
  // counts as if this PING had waited for it.
  const sched_param first{.sched_priority = 1};
  static_cast<void>(::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &first));
  RespClient client{where, std::chrono::minutes{2}};
  while (!ends_) {
    const long long before = worked(clock_);
    client.ask({"PING"});
    longest_ = std::max(longest_.load(), worked(clock_) - before);
    ++pings_;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace rlock::test
