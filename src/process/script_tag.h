#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/ancestry.h"

namespace rlock {

/// A number that names a script, and the script around it, if that has a keeper, too. The processes of the script carry it.
/// exec, setsid and the death of a parent do not change it.
///
/// It is the soft limit of file locks (RLIMIT_LOCKS). Processes inherit their limits, and no kernel since
/// Linux 2.4 enforces this one. Another process of the same user may set it.
using ScriptTag = std::uint64_t;

/// A script in a tag: 28 bits of a hash of its process. Never 0.
using ScriptNumber = std::uint32_t;

ScriptNumber number_of(const ProcessId& script) noexcept;

/// The script that the tag names; 0: the tag is 0, or that of a process that has left all scripts.
ScriptNumber script_in(ScriptTag tag) noexcept;

/// The script around that; 0: there is none.
ScriptNumber outer_in(ScriptTag tag) noexcept;

/// The tag of a script whose processes carry `before` now (0: none), which is then the tag of the script around it. Never 0.
ScriptTag tag_of(const ProcessId& script, ScriptTag before) noexcept;

/// The tag that a process carries; 0: none, or we may not signal it, or there is no such process.
ScriptTag tag_on(pid_t pid);

/// The tag from /proc, for a process that we may not signal; 0 for any other. It reads a file of the process.
ScriptTag tag_beyond_us(pid_t pid);

/// Tags the process, and so the processes that it forks from now on. Returns false if a hard limit is set, or
/// if the process is another user's.
bool put_tag(pid_t pid, ScriptTag tag) noexcept;

/// Takes this process, and so the processes that it forks from now on, out of the script. No look finds them by a tag
/// any more.
void shed_tag() noexcept;

/// Leaves all scripts: no look for the processes of a script or a command counts this process, nor those that it
/// forks from now on. For a daemon.
void leave_scripts() noexcept;
bool has_left_scripts(pid_t pid);

}  // namespace rlock
