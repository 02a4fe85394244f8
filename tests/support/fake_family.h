#pragma once

#include <sys/types.h>

#include <utility>
#include <vector>

#include "family/family.h"

namespace rlock::test {

/// Processes that exist only here. They live until the test ends them.
class FakeFamily final : public Family {
 public:
  std::vector<std::pair<int, TimePoint>> signals;  ///< each signal, and the time until which it may search
  std::vector<pid_t> living, apart, refused, silent;
  int looks = 0;

  void look() override { ++looks; }
  std::vector<pid_t> signal(int number, TimePoint, TimePoint until) override {
    signals.emplace_back(number, until);
    return refused;
  }
  std::vector<pid_t> all(TimePoint) override { return living; }
  std::vector<pid_t> out_of_reach() override { return apart; }
  const std::vector<pid_t>& unanswered() const override { return silent; }
  bool surely_gone(TimePoint) override { return living.empty() && apart.empty(); }
};

}  // namespace rlock::test
