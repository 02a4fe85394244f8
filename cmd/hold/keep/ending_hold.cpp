#include "cmd/hold/keep/ending_hold.h"

#include <algorithm>

namespace rlock {

bool EndingHold::may_be_anothers(const Part& part) const {
  return lost == Lost::yes && keys.owner_returns(part);
}

EndingHold::Split EndingHold::split() const {
  Split split;
  for (const Part& part : parts) (may_be_anothers(part) ? split.maybe_anothers : split.ours).push_back(part);
  return split;
}

TimePoint EndingHold::latest() const {
  const auto returns = [this](const Part& part) { return keys.owner_returns(part); };
  return lost == Lost::no && std::ranges::any_of(parts, returns) ? good_until : kNever;
}

EndingHold ending_hold(const HeldKeys& keys, const std::vector<Part>& parts, const PastHold& past,
                       std::optional<int> stays_after, Lost lost, TimePoint good_until) {
  EndingHold ending{.keys = keys,
                    .parts = stays_after ? keys.ending_kept(*stays_after, past) : keys.ending(parts, past),
                    .lost = lost,
                    .good_until = good_until};
  if (!stays_after) return ending;
  const ServerTime keep_until = past.facts.since + keys.request().kept_for();
  ending.options.keep_until = keep_until;
  ending.kept = keep_until - past.ended;
  return ending;
}

}  // namespace rlock
