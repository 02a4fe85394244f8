#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/server/session.h"
#include "sync/calls/answers.h"
#include "sync/records/history.h"
#include "sync/watch/inspection.h"

namespace rlock {

/// Removes by force the holds that an inspection has found, tells their holders, and records the removal in the
/// history. REQUIRES: what the members refer to outlives this object.
struct ForcedRemoval {
  Session& session;
  const Inspection& found;
  TimePoint looked;                   ///< when it was found
  const std::optional<Owner>& named;  ///< see is_meant()
  Owner owner;                        ///< for a lock: remove only holds of this owner; empty: of every owner
  const std::string& reason;

  Forced remove() const;

  /// Records the end of holds without metadata, such as Redisson's, because no other client would record it. Call it
  /// only if remove() has removed something: the key does not show whether such a hold had ended a moment before.
  void write_history() const;

  /// The owners of the holds that remove() removes.
  std::vector<Owner> owners() const;

 private:
  bool removes(const Holder& holder) const;
  std::vector<Call> followers(const Holder& holder) const;
  Forced remove_permits() const;
  PastHold past(const Holder& holder) const;
};

}  // namespace rlock
