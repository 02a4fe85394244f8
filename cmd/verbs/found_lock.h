#pragma once

#include <memory>

#include "cmd/run/lock_types.h"
#include "sync/watch/inspect.h"

namespace rlock {

/// The hold of an owner, made from what was found under a key, so that it can be renewed or given back by
/// whoever knows no more than key and owner. Giving it back wakes the head of a fair queue too.
/// Nothing: this owner has no such hold.
std::unique_ptr<Lockable> found_lock(const Inspection& found, const Claim& claim);

/// Throws Error{wrong_type} where something stands under the key
/// that is no lock, or (`type` not empty) another kind of lock.
/// A pool of permits is one for an owner who has some of them, and where `type` says so.
void expect_lock(const Inspection& found, std::string_view type,
                 const std::optional<Owner>& owner = std::nullopt);

/// The hold of an owner among those found. Nothing if there is none.
const Holder* holder_named(const Inspection& found, const Owner& owner);

}  // namespace rlock
