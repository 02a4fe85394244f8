#pragma once

#include <vector>

#include "cmd/cli/wait_options.h"
#include "cmd/server/deployment.h"
#include "sync/kinds/lockable.h"
#include "sync/wait/wish.h"

namespace rlock {

/// In a guardian, when rlock was killed and nobody lives any more for whom it held: releases what it held, over
/// connections of its own. Whoever is not the holder any more changes nothing.
void release_in_guardian(const Deployment& deployment, const WaitOptions& wait, bool quorum_all,
                         const std::vector<Part>& parts, const ReleaseOptions& options);

}  // namespace rlock
