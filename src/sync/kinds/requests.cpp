#include "sync/kinds/requests.h"

#include "base/random.h"
#include "sync/kinds/keys.h"

namespace rlock {

std::string request_key(const LockName& name, const RequestId& request) {
  return prefix_name("redisson_unlock_latch", name) + ":" + request.str();
}

HoldRequests::HoldRequests(const Claim& claim, Hold hold)
    : counts_acquire_(hold == Hold::another || claim.owner_returns),
      acquire_(request_key(claim.name, new_request())),
      release_(request_key(claim.name, new_request())) {}

}  // namespace rlock
