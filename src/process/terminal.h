#pragma once

#include <sys/types.h>
#include <termios.h>

#include <optional>

#include "base/descriptor.h"

namespace rlock {

/// The controlling terminal, and which process group has it: ours, or the command's, to which we have lent
/// it.
///
/// It also works in the background, because Signals has blocked SIGTTOU. Without a terminal these functions
/// do nothing.
class Terminal {
 public:
  /// `can_ask`: if the command reads from the terminal, SIGTTIN stops it, and by that it asks for the terminal. This is
  /// false if SIGTTIN is ignored, as in command substitutions of interactive shells. There a read would get an
  /// error.
  explicit Terminal(bool can_ask);
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Does our group have the terminal?
  bool ours() const noexcept;

  /// Must the command get the terminal without asking? No if our group does not have it. Otherwise yes if the
  /// command cannot ask, or if stdin and stdout are the terminal: then no pipeline around it needs the keyboard.
  bool to_be_handed_over() noexcept;

  /// Saves the modes, and gives the terminal to `group`. Returns true if that worked. It does not allocate,
  /// so it may be called in the command's process before execve().
  bool lend(pid_t group) noexcept;

  /// Have we lent it, and has no shell above us taken it?
  bool lent() const noexcept { return lent_ && !taken_from_above(); }

  /// Opens the terminal if stdin is something else. Returns true if there is one.
  bool find() noexcept;

  /// Takes it back for our group, unless a shell above us has taken it (we are in the background).
  void take_back() noexcept;

  /// Restores the modes from before lend(), for a command that was killed and could not do so.
  void restore_modes() noexcept;

 private:
  bool taken_from_above() const noexcept;

  int fd_ = -1;        ///< stdin, or opened_
  Descriptor opened_;  ///< /dev/tty, if stdin is something else
  bool can_ask_;
  bool stdin_and_stdout_ = false;
  bool lent_ = false;
  std::optional<termios> modes_;  ///< the modes before lend()
};

}  // namespace rlock
