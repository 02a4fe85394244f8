#pragma once

#include <string>

#include "base/names.h"
#include "base/time.h"
#include "redis/call.h"
#include "redis/delivery.h"
#include "redis/reply.h"
#include "sync/calls/claim.h"

namespace rlock {

/// A server remembers for this long that it has done a request. A copy that comes later would be done as a new request.
/// A --command-timeout of more than 30 s can outlive it, and the manual says so.
constexpr Milliseconds kRequestMemory{60000};
static_assert(kRequestMemory > kUnconfirmed);

/// The key in which the server remembers a request. The name is among Redisson's unlock latches, so an ACL
/// made for Redisson suffices.
std::string request_key(const LockName& name, const RequestId& request);

/// Asks for the state of the inner hold that this request acquired. `unknown`: the server does not remember it.
enum class InnerState { unknown, ended, reads, held };
Call ask_for_inner(const LockName& name, const RequestId& request);
InnerState read_inner(const Reply& reply);

/// The keys of the requests by which the server tells one hold from other holds of the same owner.
class RequestKeys {
 public:
  RequestKeys(const Claim& claim, Hold hold);

  /// Is it an inner hold? Then its request identifies it, and must be remembered as long as the hold lasts.
  bool inner() const noexcept { return inner_; }

  /// Does the acquire carry a request? If not, the owner has only this hold, so the owner identifies it.
  bool carries_request() const noexcept { return carries_request_; }
  /// The key in which the server remembers the acquire. Empty: the acquire carries no request.
  const std::string& acquire() const noexcept { return acquire_; }
  /// The key in which the server remembers the release.
  const std::string& release() const noexcept { return release_; }

  Way release_way() const noexcept {
    return inner_ ? Way::inner : carries_request_ ? Way::again : Way::first;
  }

 private:
  bool inner_;
  bool carries_request_;
  std::string acquire_;
  std::string release_;
};

}  // namespace rlock
