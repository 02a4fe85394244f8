#include "sync/calls/requests.h"

#include "base/random.h"
#include "sync/calls/keys.h"

namespace rlock {

std::string request_key(const LockName& name, const RequestId& request) {
  return own_key(name, request.str());
}

RequestKeys::RequestKeys(const Claim& claim, Hold hold)
    : inner_(hold == Hold::inner),
      carries_request_(inner_ || claim.owner_returns),
      acquire_(carries_request_
                   ? request_key(claim.name, claim.request.empty() ? new_request() : claim.request)
                   : ""),
      release_(carries_request_ ? acquire_ + ":released" : request_key(claim.name, new_request())) {}

Call ask_for_inner(const LockName& name, const RequestId& request) { return get(request_key(name, request)); }

InnerState read_inner(const Reply& reply) {
  if (reply.kind() != Reply::Kind::text) return InnerState::unknown;
  if (reply.text() == "undone") return InnerState::ended;
  return reply.text() == "read" ? InnerState::reads : InnerState::held;
}

}  // namespace rlock
