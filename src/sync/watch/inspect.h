#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "base/names.h"
#include "base/time.h"
#include "redis/call.h"
#include "redis/reply.h"
#include "sync/calls/values.h"
#include "sync/watch/inspection.h"

namespace rlock {

/// The metadata of holders: owner -> facts.
using Facts = std::map<Owner, Metadata>;

/// An inspection of a key takes three calls. The second needs the reply to the first; the third (listeners.h) needs the
/// reply to the second. InspectionSteps puts the first two into order. It asks for the facts once more if some are
/// missing (lacks_facts()).
///   1. The facts of the holders. If the reply is an error, there are none: we may have no access to that key.
/// `wanted`: a holder whose facts are read even if there are too many.
Call ask_facts(const LockName& name, const std::string& wanted = {});
struct KnownFacts {
  Facts facts;
  bool latch = false;   ///< rlock has recorded a latch of this name
  bool opened = false;  ///< and that it was opened
};
KnownFacts read_facts(const Reply& reply);

///   2. The key and the keys beside it. `wanted`: the owner of a lock, or the id of a permit in hexadecimal. If it is a
///   holder, it is among those that are read, even if they are too many to read all. Empty: none.
Call inspect_key(const LockName& name, const Facts& facts, const std::string& wanted = {});
Inspection read_inspection(const LockName& name, const KnownFacts& known, const Reply& reply);

/// The keys of all kinds that may stand under or beside this name.
Values keys_beside(const LockName& name);

/// The most memory that the reply to an inspection or a glance takes, in bytes: see lua/inspect.
constexpr std::size_t kLargestInspection = 2U << 20;

/// The TTL that a script answers. Empty: the key has none.
std::optional<Milliseconds> ttl_of(const Reply& pttl);

/// Are the facts of an rlock holder missing? It may have acquired the lock just now. Then ask once more (the
/// first call, or the glance).
bool lacks_facts(const Inspection& inspection);

}  // namespace rlock
