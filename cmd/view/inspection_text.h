#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sync/watch/inspection.h"

namespace rlock {

/// Some lines for people about one key; each ends with a newline. `width`: of the column of names.
std::string inspection_text(const Inspection& seen, std::size_t width);

/// The rest of the first line, behind the name: "lock, held, 4 wait", "free".
std::string inspection_summary(const Inspection& seen);

/// "3 of 5 available". If more permits are taken than there are now: "0 of 1 available, 1 too many taken".
std::string available_text(std::int64_t available, std::optional<std::int64_t> total);

/// The texts for all keys. If several servers were asked, each server's texts stand below its name.
std::string inspections_text(const std::vector<Inspection>& inspections);

/// For a key that was not found: if it looks like a pattern, prints on stderr that a KEY is no pattern.
void say_if_pattern(const LockName& name);

}  // namespace rlock
