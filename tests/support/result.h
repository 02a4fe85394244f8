#pragma once

#include <chrono>
#include <string>

#include "support/cli.h"

namespace rlock::test {

/// How a run of rlock ended, and what it printed.
struct Result {
  int status;
  std::string out, err;
};

/// Runs rlock to its end. Throws like Process::exit_code().
inline Result result_of(const Words& words, const Process::Options& options,
                        std::chrono::milliseconds deadline = std::chrono::seconds{30}) {
  Rlock rlock{words, options};
  const int status = rlock.exit_code(deadline);
  return {status, rlock.out(), rlock.err()};
}

}  // namespace rlock::test
