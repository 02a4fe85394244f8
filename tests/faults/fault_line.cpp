#include "faults/fault_line.h"

#include <cstdio>
#include <cstdlib>

namespace rlock::test {

Rlock FaultLine::rlock(Words arguments) const {
  auto options = redis.environment();
  options.env["RLOCK_URL"] = proxy.url();
  return Rlock{std::move(arguments), options};
}

Rlock FaultLine::hold(Words options, const std::string& how) const {
  Words words{"run", "-k", "k"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back("--");
  const auto command = witness_command(folder.path(), how);
  words.insert(words.end(), command.begin(), command.end());
  return rlock(words);
}

bool FaultLine::inside() const {
  const auto stays = read_stays(folder.path());
  return !stays.empty() && !stays.back().finished;
}

bool FaultLine::clean() { return !redis.has("k") && redis.cli({"PUBSUB", "CHANNELS"}).empty(); }

bool held(RedisServer& redis, long long count) { return redis.cli({"HVALS", "k"}) == std::to_string(count); }

void report(const std::string& fault, const std::string& outcome, int status,
            std::chrono::milliseconds time) {
  std::printf("| %-44s | %-58s | %4d | %6.2f s |\n", fault.c_str(), outcome.c_str(), status,
              static_cast<double>(time.count()) / 1000);
  std::fflush(stdout);
}

std::chrono::milliseconds promised(std::chrono::milliseconds time) {
  // If twenty sanitized processes start at once, the start alone takes seconds.
  const auto spare = kSanitized ? 4s : 1s;
  return long_profile() ? time : time + spare;
}

Again::Again(std::chrono::milliseconds every, std::function<void()> deed)
    : thread_([this, every, deed = std::move(deed)] {
        while (!ends_) {
          deed();
          std::this_thread::sleep_for(every);
        }
      }) {}

Again::~Again() {
  ends_ = true;
  thread_.join();
}

}  // namespace rlock::test
