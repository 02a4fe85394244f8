#pragma once

namespace rlock {

/// To whom a script announces. Newer clients in a cluster listen only by sharded pub/sub (SSUBSCRIBE), which
/// servers outside of a cluster may not have. The deployment decides it; word() in arguments.h makes it an
/// argument.
enum class PubSub { classic, sharded_too };

}  // namespace rlock
