#pragma once

#include <string>

#include "support/process.h"
#include "support/skipped.h"

namespace rlock::test {

/// Is this program installed? If it is not, reports that a part of the test was skipped.
inline bool installed(const std::string& program) {
  if (Process{{"sh", "-c", "command -v " + program}}.exit_code() == 0) return true;
  skipped(program + " is not installed");
  return false;
}

}  // namespace rlock::test
