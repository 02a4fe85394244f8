#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "cmd/hold/command/held_command.h"
#include "cmd/hold/keys/held_keys.h"
#include "sync/calls/lockable.h"

namespace rlock {

/// A hold that ends, and how it is released.
struct EndingHold {
  const HeldKeys& keys;
  std::vector<Part> parts;  ///< as ending_hold() made them
  Lost lost;
  TimePoint good_until;  ///< until then the hold is surely ours
  ReleaseOptions options{};
  Milliseconds kept{0};  ///< how long the release may keep the keys

  /// After a loss, another process may have acquired this key as an owner who returns. A release would free that hold.
  bool may_be_anothers(const Part& part) const;

  struct Split {
    std::vector<Part> ours, maybe_anothers;
  };
  Split split() const;

  /// When the release must end: for owners who return, with the lease, because then the hold may be lost.
  TimePoint latest() const;
};

/// How these parts of a hold are released, whoever does it: rlock run, the keeper of a script or a guardian. `past`: its
/// end, for the history. `stays_after`: the keys stay, and the metadata has this exit status of the command; this
/// needs all parts. Empty: the keys do not stay. `lost`, `good_until`: see EndingHold.
EndingHold ending_hold(const HeldKeys& keys, const std::vector<Part>& parts, const PastHold& past,
                       std::optional<int> stays_after, Lost lost, TimePoint good_until);

}  // namespace rlock
