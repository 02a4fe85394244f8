#include "cmd/run/guardian_release.h"

#include <exception>

#include "base/log.h"
#include "cmd/server/session.h"
#include "loop/std_descriptors.h"
#include "sync/hold/release.h"

namespace rlock {

void release_in_guardian(const Deployment& deployment, const WaitOptions& wait, bool quorum_all,
                         const std::vector<Part>& parts, const ReleaseOptions& options) {
  try {
    fill_std_descriptors();  // or a message would go to the server
    Session session{deployment, wait, quorum_all};
    static_cast<void>(release(session.redis, parts, options, within(cleanup_time(parts.size()))));
  } catch (const std::exception& error) {  // nobody is there to be told: the lock ends with its lease
    mention(error.what());
  }
}

}  // namespace rlock
