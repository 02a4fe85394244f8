#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "cmd/app/verb_table.h"

namespace rlock {

/// From the words behind "rlock" to the exit status: finds the verb, reads its options, lets it act.
/// `started`: when this process began. `verb`: the one that was found; it outlives what is thrown, so that
/// main() can let it know. Throws Error.
int app(TimePoint started, const std::vector<std::string>& words, std::unique_ptr<Verb>& verb);

}  // namespace rlock
