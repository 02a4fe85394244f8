#pragma once

#include <sys/types.h>

#include <functional>

namespace rlock {

/// Goes on in a process of its own, and returns when that calls the function that `work` is given: it is at
/// work then. The process has a session of its own, and of our descriptors only stderr; not that, either,
/// where it is the pipe or socket that is our stdout: who reads that waits for its end. It ends when `work`
/// returns. Throws Error{system} when there can be none, or it has ended before it was at work; what `work`
/// throws is complained about there.
void go_on_in_background(const std::function<void(const std::function<void()>& at_work)>& work);

/// May we send signals to this process? 0, or why not: ESRCH, EPERM.
int may_signal(pid_t pid) noexcept;

}  // namespace rlock
