#pragma once

#include <string>
#include <vector>

#include "cmd/cli/output.h"
#include "sync/watch/inspect.h"

namespace rlock {

/// For people, to be read at three in the morning: some lines, the last with its newline. `width`: of
/// the column of names.
std::string inspection_text(const Inspection& seen, std::size_t width);

/// What the first line says behind the name: "lock, held, 4 wait", "free".
std::string inspection_summary(const Inspection& seen);

/// The texts of all of them; if several servers were asked, each server's texts stand below its name.
std::string inspections_text(const std::vector<Inspection>& inspections);

/// For a key that was not found: if it looks like a pattern, says on stderr that a KEY is none.
void say_if_pattern(const LockName& name);

/// One item of `holders` of a key.
Json holder_json(const Holder& holder);

/// One item of `keys` of the JSON document.
Json inspection_json(const Inspection& seen);

/// The document. `complete`: nothing was cut short.
Json inspection_document(const std::vector<Inspection>& inspections, bool complete);

}  // namespace rlock
