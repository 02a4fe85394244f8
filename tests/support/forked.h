#pragma once

#include <functional>

namespace rlock::test {

/// Runs `work` in a process of its own, which may then do to itself what would
/// spoil the test program: block and ignore signals, die. Returns its wait status.
/// Its exit status is what `work` returns; 250 when that throws (said on stderr).
/// A process that stops is killed.
int in_another_process(const std::function<int()>& work);

}  // namespace rlock::test
