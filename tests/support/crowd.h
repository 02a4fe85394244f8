#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>

#include "support/process.h"

namespace rlock::test {

/// Many workers at once. Each runs one command after the other.
struct Crowd {
  int workers = 1;
  int runs = 1;  ///< commands for each worker
  std::function<Words(int worker, int run)> command;
  Process::Options options;
};

struct CrowdResult {
  std::map<int, int> statuses;  ///< exit status in the form of a shell -> how often it came
  std::chrono::milliseconds elapsed{0};
  std::string complaints;  ///< the whole stderr

  bool all(int status) const { return statuses.size() == 1 && statuses.begin()->first == status; }
  std::string str() const;  ///< "1000 x 0, 2 x 125 in 12300 ms"
};

/// Runs the crowd to its end. Throws if that takes longer than `deadline`. `meanwhile` is called every few
/// milliseconds.
CrowdResult run(
    const Crowd& crowd, std::chrono::milliseconds deadline, const std::function<void()>& meanwhile = [] {});

}  // namespace rlock::test
