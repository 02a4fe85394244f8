#include "support/crowd.h"

#include <list>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "support/eventually.h"

namespace rlock::test {
namespace {

struct Worker {
  int number;
  int run = 0;
  std::optional<Process> process;
};

}  // namespace

CrowdResult run(const Crowd& crowd, std::chrono::milliseconds deadline,
                const std::function<void()>& meanwhile) {
  CrowdResult result;
  const StopWatch watch;
  std::list<Worker> workers;
  for (int number = 0; number < crowd.workers; ++number) workers.push_back({.number = number, .process = {}});
  while (!workers.empty()) {
    bool idle = true;
    for (auto worker = workers.begin(); worker != workers.end();) {
      if (worker->process && worker->process->running()) {
        ++worker;
        continue;
      }
      idle = false;
      if (worker->process) {
        ++result.statuses[worker->process->exit_code()];
        result.complaints += worker->process->err();
        worker->process.reset();
      }
      if (worker->run == crowd.runs) {
        worker = workers.erase(worker);
        continue;
      }
      worker->process.emplace(crowd.command(worker->number, worker->run++), crowd.options);
      ++worker;
    }
    meanwhile();
    if (watch.elapsed() > deadline)
      throw std::runtime_error{"the crowd takes too long: " + result.str() + "\n" + result.complaints};
    if (idle) std::this_thread::sleep_for(1ms);
  }
  result.elapsed = watch.elapsed();
  return result;
}

std::string CrowdResult::str() const {
  std::ostringstream text;
  for (const auto& [status, count] : statuses)
    text << (text.tellp() > 0 ? ", " : "") << count << " x " << status;
  text << " in " << elapsed.count() << " ms";
  return text.str();
}

}  // namespace rlock::test
