#pragma once

#include <optional>
#include <string_view>

#include "cmd/cli/options.h"
#include "sync/watch/inspect.h"

namespace rlock {

/// --lease DUR, with a hint for those who type --ttl.
void declare_lease(VerbSpec& spec, std::optional<Milliseconds>& lease, std::string_view help,
                   std::string_view manual = {});

/// The same for a verb that renews.
void declare_renewed_lease(VerbSpec& spec, std::optional<Milliseconds>& lease);

/// How long the renewed hold of `holder` is to last: as `given`, or as long as before.
/// Throws Error{usage} where neither is known.
Milliseconds renewed_lease(const std::optional<Milliseconds>& given, const Holder& holder);

}  // namespace rlock
