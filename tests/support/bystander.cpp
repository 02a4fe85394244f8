#include "support/bystander.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <stdexcept>

#include "support/eventually.h"
#include "support/resp_client.h"

namespace rlock::test {
namespace {

constexpr std::chrono::milliseconds kPause{1};

/// The fixed script takes about 10 ms on a quiet machine. It runs at the start, and then once in so many pings.
constexpr const char* kYardstick = "for i = 1, 25000 do redis.call('exists', KEYS[1]) end";
constexpr long long kYardstickAlone = 10'000'000;
constexpr std::size_t kPingsPerYardstick = 256;

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

void Bystander::settle() const {
  const std::size_t before = pings_;  // one more may be under way
  if (!eventually([&] { return pings_ > before + 1; }, 1min)) throw std::runtime_error{"no answer to PING"};
}

void Bystander::forget() {
  settle();
  const std::scoped_lock lock{mutex_};
  longest_ = 0;
}

std::chrono::milliseconds Bystander::longest() const {
  const std::scoped_lock lock{mutex_};
  return std::chrono::milliseconds{longest_ / 1'000'000};
}

std::chrono::milliseconds Bystander::allowed(std::chrono::milliseconds alone) const {
  const std::scoped_lock lock{mutex_};
  if (yardsticks_.empty()) return alone;
  std::vector<long long> sorted = yardsticks_;
  std::ranges::sort(sorted);
  const long long median = sorted[sorted.size() / 2];  // some also contain the work of others
  return alone * std::max(median, kYardstickAlone) / kYardstickAlone;
}

void Bystander::ping(const std::string& where) {
  // Asks for real-time priority. While this thread waits for a processor, the server's work for other commands
  // counts as if this PING had waited for it.
  const sched_param first{.sched_priority = 1};
  static_cast<void>(::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &first));
  RespClient client{where, std::chrono::minutes{2}};
  while (!ends_) {
    const bool measures = pings_ % kPingsPerYardstick == 0;
    const long long before = worked(clock_);
    client.ask(measures ? Words{"EVAL", kYardstick, "1", "yardstick"} : Words{"PING"});
    const long long took = worked(clock_) - before;
    {
      const std::scoped_lock lock{mutex_};
      if (measures)
        yardsticks_.push_back(took);
      else
        longest_ = std::max(longest_, took);
    }
    ++pings_;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace rlock::test
