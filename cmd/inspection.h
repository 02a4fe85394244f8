#pragma once

#include <string>
#include <vector>

#include "cmd/output.h"
#include "cmd/session.h"
#include "sync/inspect.h"

namespace rlock {

/// Looks at a key: three questions, the first and the last of which the server may refuse to answer.
/// Throws Error where the server cannot be reached or forbids the look itself.
Inspection inspect(Session& session, const LockName& name);

/// For people, to be read at three in the morning: some lines, the last with its newline. `width`: of the column of names.
std::string inspection_text(const Inspection& inspection, std::size_t width);

/// What the first line says behind the name: "lock, held, 4 wait", "free".
std::string inspection_summary(const Inspection& inspection);

/// How wide that column has to be for these.
std::size_t name_column(const std::vector<Inspection>& inspections);

/// One item of `keys` of the JSON document.
Json inspection_json(const Inspection& inspection);

/// The document. `complete`: nothing was cut short.
Json inspection_document(const std::vector<Inspection>& inspections, bool complete);

}  // namespace rlock
