#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "redis/call.h"
#include "redis/reply.h"

namespace rlock {

/// To look through a server for keys that nobody has named: SCAN step by step, and what the keys hold that a
/// step has found. The server does each of these calls in about a millisecond.

/// Which keys of a server one pass looks at.
enum class ScanPass {
  facts,   ///< where rlock has written something down
  texts,   ///< text: numbers, and what else is no lock
  hashes,  ///< locks, what rlock has written down, and what else is no lock
};

/// One step. `cursor`: "0" to begin, and when the pass is done; `prefix`: of the keys, empty for all; of
/// facts it is ignored; `node`: in a cluster a key that lives on the node that is to be looked through.
Call scan_step(ScanPass pass, const std::string& cursor, const std::string& prefix, const std::string& node);

struct Scanned {
  std::string cursor;
  std::vector<LockName> names;     ///< known by what stands beside them
  std::vector<LockName> doubtful;  ///< ask_content() tells; what is known to stand beside locks is left out
};
Scanned read_step(ScanPass pass, const Reply& reply);

/// A word for what each of them holds: is it what we look for? REQUIRES: in a cluster they lie in one slot.
Call ask_content(ScanPass pass, const std::vector<LockName>& names);

/// The names that hold a lock of Redisson or rlock, or a number (perhaps a semaphore, a pool or a latch). A
/// hash that counts something is a lock if its field has the form of an owner.
std::vector<LockName> read_content(const std::vector<LockName>& names, const Reply& reply);

}  // namespace rlock
