#pragma once

#include <sys/types.h>
#include <termios.h>

#include <optional>

#include "base/descriptor.h"

namespace rlock {

/// The controlling terminal, and which process group has it: ours, or the command's to which we have lent it.
///
/// Works from the background too: Signals has blocked
/// SIGTTOU. Without a terminal everything here does nothing.
class Terminal {
 public:
  /// `can_ask`: TTIN will stop a command that reads from it. Substitutions
  /// of interactive shells ignore it, and their commands would get an error.
  explicit Terminal(bool can_ask);
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Has our group got it?
  bool ours() const noexcept;

  /// Is the command to have it without asking? When our group has it, and stdin and stdout both are the
  /// terminal, so that no pipeline runs beside it that wants keys; or when the command cannot ask.
  bool to_be_handed_over() noexcept;

  /// Remembers its modes and gives it to `group`; answers whether that worked. Allocates nothing: may be
  /// called in the command's process before it becomes the command.
  bool lend(pid_t group) noexcept;

  /// Lent, and not taken by a shell above us meanwhile.
  bool lent() const noexcept { return lent_ && !taken_from_above(); }

  /// Opens the terminal if stdin is something else. Returns whether there is one.
  bool find() noexcept;

  /// Back to our group, unless a shell above us has taken it (we are in the background).
  void take_back() noexcept;

  /// Sets the modes as they were before it was lent: for
  /// when the command was killed and could not do so itself.
  void restore_modes() noexcept;

 private:
  bool taken_from_above() const noexcept;

  int fd_ = -1;        ///< stdin, or the one that is opened
  Descriptor opened_;  ///< /dev/tty, where stdin is something else
  bool can_ask_;
  bool stdin_and_stdout_ = false;
  bool lent_ = false;
  std::optional<termios> modes_;  ///< before it was lent
};

}  // namespace rlock
