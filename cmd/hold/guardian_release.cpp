#include "cmd/hold/guardian_release.h"

#include <exception>

#include "base/log.h"
#include "cmd/hold/events.h"
#include "cmd/server/session.h"
#include "loop/std_descriptors.h"
#include "sync/hold/release.h"

namespace rlock {

void release_in_guardian(const HoldRequest& request, RlockEnd how, const PastHold& past,
                         const std::vector<Part>& parts, const ReleaseOptions& options) {
  try {
    fill_std_descriptors();  // otherwise a message could be written to a server's socket
    Session session{request.deployment, request.wait, request.quorum_all};
    static_cast<void>(
        release(session.redis, parts, options, session.loop.within(cleanup_time(parts.size()))));
    if (how == RlockEnd::killed) Events::killed(request, past);
  } catch (const std::exception& error) {  // there is no one to tell: the lock ends with its lease
    debug(error.what());
  }
}

}  // namespace rlock
