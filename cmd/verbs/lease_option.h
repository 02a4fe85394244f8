#pragma once

#include <optional>
#include <string_view>

#include "cmd/cli/options.h"
#include "sync/watch/inspection.h"

namespace rlock {

/// --lease DUR, with a hint for users who type --ttl. The reference is valid until another option is added.
Option& declare_lease(VerbSpec& spec, std::optional<Milliseconds>& lease, std::string_view help,
                      std::string_view manual = {});

/// The same for a verb that renews.
void declare_renewed_lease(VerbSpec& spec, std::optional<Milliseconds>& lease, std::string_view standard);

/// The lease with which this hold was acquired or last renewed. Empty: there is no note of it, for
/// example because a run inside the hold has noted its own.
std::optional<Milliseconds> noted_lease(const Holder& holder);

/// Throws Error{usage}.
[[noreturn]] void refuse_unknown_lease();

}  // namespace rlock
