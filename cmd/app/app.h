#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "cmd/app/verb_table.h"

namespace rlock {

/// Runs a whole command line: finds the verb, parses its options, and lets it act. Returns the exit status.
/// `words`: those behind "rlock". `started`: the start of this process. `verb`: the verb that was found. It
/// stays if this throws, so that main() can call failed(). Throws Error.
int app(TimePoint started, const std::vector<std::string>& words, std::unique_ptr<Verb>& verb);

}  // namespace rlock
