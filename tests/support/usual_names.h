#pragma once

#include "base/names.h"

/// The keys and the owner of tests to which any others would do.
namespace rlock::test {

inline const LockName kName{"deploy"};
inline const LockName kKey{"k"};
inline const Owner kMe{"me:1"};

}  // namespace rlock::test
