#pragma once

#include <string>
#include <vector>

#include "base/names.h"
#include "redis/call.h"
#include "redis/reply.h"

namespace rlock {

/// Searches a server for keys without knowing their names: SCAN in steps, then the content of the keys that a
/// step found. Each call costs the server about a millisecond.

/// The keys of a server that one pass looks at.
enum class ScanPass {
  facts,   ///< rlock's metadata
  texts,   ///< strings: numbers, and others that are no locks
  hashes,  ///< hashes: locks, rlock's metadata, and others that are no locks
  named,   ///< no pass of a scan: ask_content() asks whether these keys exist, whatever their type
};

/// One step. `cursor`: "0" at the start; the reply has "0" when the pass is done. `prefix`: of the keys;
/// empty for all; ignored for facts. `node`: in a Cluster, a key that lives on the node to search.
Call scan_step(ScanPass pass, const std::string& cursor, const std::string& prefix, const std::string& node);

struct Scanned {
  std::string cursor;
  std::vector<LockName> names;  ///< locks that are known by a key beside them
  /// Candidates for ask_content(); keys that stand beside locks are left out.
  std::vector<LockName> doubtful;
};
Scanned read_step(ScanPass pass, const Reply& reply);

/// The other name that shares the keys beside the lock `name`: "{x}" for "x". Empty: there is none.
LockName other_name(const LockName& name);

/// Asks for a word about the content of each key. REQUIRES: in a Cluster, the keys share one slot.
Call ask_content(ScanPass pass, const std::vector<LockName>& names);

/// The names that hold a lock of Redisson or rlock, or a number (perhaps a semaphore, pool or latch). A hash
/// with counts is a lock if its field has the form of an owner. After ask_content(ScanPass::named): the names that
/// exist.
std::vector<LockName> read_content(const std::vector<LockName>& names, const Reply& reply);

}  // namespace rlock
