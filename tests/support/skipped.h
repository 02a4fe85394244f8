#pragma once

#include <string_view>

namespace rlock::test {

/// Reports that this machine does not allow what the current test case, or a part of it, needs: it prints
/// `skipped: <test case>: <why>`, which .ci/test collects. A test program whose cases were all skipped exits with
/// 77, and ctest calls it skipped.
///
///     if (::geteuid() != 0) return skipped("only root can be two users");
void skipped(std::string_view why);

}  // namespace rlock::test
