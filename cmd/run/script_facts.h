#pragma once

#include "sync/metadata.h"

namespace rlock {

/// Who holds what `acquire` has taken: the script that asked us, and not we, who end at once.
Metadata about_the_script();

}  // namespace rlock
