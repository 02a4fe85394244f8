#pragma once

#include <sys/types.h>

namespace rlock {

/// Opens /dev/null on those of descriptors 0 to 2 that are closed. Otherwise a socket of ours could become a program's
/// stdout. The new ones are close-on-exec, so a command finds them closed, as it would without rlock. main calls this
/// before it opens a file, and a process of ours when it has closed what it inherited. Throws Error{system} if open()
/// fails.
void fill_std_descriptors();

/// Has fill_std_descriptors() opened this one? Then the user has closed it, and no text reaches anybody.
bool is_placeholder(int fd) noexcept;

/// Makes a descriptor of the user, or its duplicate, close-on-exec unless it is a standard one. Otherwise the command
/// would inherit it. REQUIRES: it stays open until this process ends.
void keep_from_command(int fd) noexcept;

/// Was the descriptor kept from the command? Then a process of the user may wait for its end.
bool is_kept_from_command(int fd) noexcept;

/// Is this descriptor the pipe or socket that is our stdout? Then the reader of our output waits for the end of
/// each process that has it.
bool is_our_stdout(int fd);

/// May a process in the background that ends soon after the process `pid` keep our stderr? Not if stderr is a pipe or
/// socket that `pid` does not have as its own stderr. Then `pid` itself may be the reader, and wait for its end.
bool may_keep_stderr(pid_t pid);

}  // namespace rlock
