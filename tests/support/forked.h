#pragma once

#include <functional>

namespace rlock::test {

/// Runs `work` in another process, because it may block or ignore signals, or die. Returns its wait status.
/// The exit status is the result of `work`, or 250 if it throws (the error goes to stderr). A process that
/// stops is killed.
int in_another_process(const std::function<int()>& work);

/// The same, but returns the status in the form of a shell: the exit status, or 128 + the signal.
int status_of(const std::function<int()>& work);

}  // namespace rlock::test
