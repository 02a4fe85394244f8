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

/// The lease of the renewed hold: `given`, or else the previous one. Empty: both are unknown.
std::optional<Milliseconds> renewed_lease(const std::optional<Milliseconds>& given, const Holder& holder);

/// Throws Error{usage}.
[[noreturn]] void refuse_unknown_lease();

}  // namespace rlock
