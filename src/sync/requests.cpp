#include "sync/requests.h"

#include "sync/keys.h"

namespace rlock {

std::string request_key(const LockName& name, const RequestId& request) {
  return prefix_name("redisson_unlock_latch", name) + ":" + request.str();
}

}  // namespace rlock
