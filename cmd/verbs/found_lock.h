#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cmd/hold/request/lock_types.h"
#include "sync/watch/inspection.h"

namespace rlock {

/// The hold of an owner, made from an inspection, for a verb that knows only key and owner, and renews or releases the
/// hold. The release also wakes the head of a fair queue. Null: this owner has no hold of the key.
std::unique_ptr<Lockable> found_lock(const Inspection& found, const Claim& claim);

/// --type T, for expect_lock().
void declare_expected_type(VerbSpec& spec, std::string& type, std::string_view manual);

/// Is there nothing under the key?
bool is_free(const Inspection& found);

/// Throws Error{wrong_type} if the key holds something else than a lock or, if `type` is not empty, a lock of another
/// type. A number, which may be a pool of permits, counts as a lock if an owner is given, or if `type` says so.
void expect_lock(const Inspection& found, std::string_view type,
                 const std::optional<Owner>& owner = std::nullopt);

/// Did the user name this holder, by its owner or by the id of its permit? If `named` is empty, every holder is meant.
bool is_meant(const Holder& holder, const std::optional<Owner>& named);

/// Throws Error{wrong_type} if it is a pool with holders, and the user named none of them. `what`: what to name, for
/// example "the holder".
void expect_named(const Inspection& found, const std::optional<Owner>& named, std::string_view what);

/// "'deploy' is not held by owner 'ci-7'; see: rlock inspect deploy"
std::string not_held_by(const Owner& owner, const Inspection& found);

}  // namespace rlock
