#pragma once

#include <string>

#include "base/names.h"
#include "base/time.h"
#include "sync/kinds/claim.h"
#include "sync/kinds/lockable.h"

namespace rlock {

/// How long a server remembers that it has done a request. Longer than anybody keeps repeating one, and than
/// a copy can stay in a connection that was given up.
constexpr Milliseconds kRequestMemory{60000};

/// Where a request is remembered: among the unlock latches
/// of Redisson, so that an ACL made for Redisson suffices.
std::string request_key(const LockName& name, const RequestId& request);

/// By what the server tells one hold from other holds of the same owner.
class HoldRequests {
 public:
  HoldRequests(const Claim& claim, Hold hold);

  /// Does the acquire carry a request? Else the owner tells the hold: it is used for no other one.
  bool counts_acquire() const noexcept { return counts_acquire_; }
  const std::string& acquire() const noexcept {
    return acquire_;
  }  ///< where the server remembers that it took the hold,
  const std::string& release() const noexcept { return release_; }  ///< and that it gave it back

  Way release_way() const noexcept { return counts_acquire_ ? Way::again : Way::first; }

 private:
  bool counts_acquire_;
  std::string acquire_;
  std::string release_;
};

}  // namespace rlock
