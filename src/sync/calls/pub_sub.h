#pragma once

namespace rlock {

/// The kind of pub/sub on which a script announces. Newer clients in a Cluster listen only to sharded pub/sub
/// (SSUBSCRIBE), and servers outside a Cluster may not have it. The deployment decides; word() in arguments.h
/// makes the argument.
enum class PubSub { classic, sharded_too };

}  // namespace rlock
