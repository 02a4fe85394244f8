#include "cmd/ask/past_holds.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"

namespace rlock {
namespace {

/// Sorts by end, the newest first, and removes duplicates from several servers.
void put_in_order(std::vector<PastHold>& holds) {
  const auto is_newer = [](const PastHold& a, const PastHold& b) {
    return std::pair{b.ended, b.owner} < std::pair{a.ended, a.owner};
  };
  const auto is_same = [](const PastHold& a, const PastHold& b) {
    return a.ended == b.ended && a.owner == b.owner;
  };
  std::ranges::stable_sort(holds, is_newer);
  const auto repeated = std::ranges::unique(holds, is_same);
  holds.erase(repeated.begin(), repeated.end());
}

}  // namespace

History history_of(Session& session, const LockName& name, std::int64_t most) {
  History all;
  for (const Reply& reply : session.ask_all(ask_history(name, most))) {
    History one = read_history(reply);
    all.now = one.now;
    std::ranges::move(one.holds, std::back_inserter(all.holds));
  }
  put_in_order(all.holds);
  if (all.holds.size() > static_cast<std::size_t>(most)) all.holds.resize(static_cast<std::size_t>(most));
  return all;
}

void look_back(Session& session, Inspection& seen) {
  for (const Vote& vote : session.try_each(ask_history(seen.name, 1))) {
    auto history = history_in(vote);
    if (!history || history->holds.empty()) continue;
    seen.last = std::move(history->holds.front());
    seen.now = history->now;  // the age of the last hold is by the clock of the same server
    return;
  }
}

}  // namespace rlock
