#include "loop/signals_of_writes.h"

#include <cstddef>

namespace rlock {
namespace {

std::array<struct sigaction, kOfWrites.size()> ignore() noexcept {
  std::array<struct sigaction, kOfWrites.size()> before{};
  struct sigaction action = {};
  action.sa_handler = SIG_IGN;
  for (std::size_t i = 0; i < kOfWrites.size(); ++i) ::sigaction(kOfWrites[i], &action, &before[i]);
  return before;
}

}  // namespace

const std::array<struct sigaction, kOfWrites.size()>& ignore_signals_of_writes() noexcept {
  // A global, because dispositions belong to the process: a second call must not take ours for those of the start.
  static const auto before = ignore();
  return before;
}

}  // namespace rlock
