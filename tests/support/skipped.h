#pragma once

#include <string_view>

namespace rlock::test {

/// Reports that this machine lacks something that the current test case, or a part of it, needs. It prints
/// `skipped: <test case>: <why>`, which .ci/test collects. If all cases of a test program were skipped, it
/// exits with 77, and ctest calls it skipped.
///
///     if (::geteuid() != 0) return skipped("only root can be two users");
void skipped(std::string_view why);

}  // namespace rlock::test
