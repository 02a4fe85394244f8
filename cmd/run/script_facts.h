#pragma once

#include <sys/types.h>

#include "sync/watch/metadata.h"

namespace rlock {

/// Who holds what `acquire` has taken: the script that asked us, and not we, who end at once.
Metadata about_the_script();

/// The same of a script by its process, whose lock somebody renews.
Metadata about_script(pid_t script);

}  // namespace rlock
