#include "process/terminal.h"

#include <fcntl.h>
#include <unistd.h>

namespace rlock {

Terminal::Terminal(bool can_ask) : can_ask_(can_ask) {
  // tcgetpgrp() succeeds only for the controlling terminal.
  if (::tcgetpgrp(STDIN_FILENO) < 0) return;
  fd_ = STDIN_FILENO;
  stdin_and_stdout_ = ::tcgetpgrp(STDOUT_FILENO) >= 0;
}

bool Terminal::find() noexcept {
  if (fd_ >= 0) return true;
  opened_.reset(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  fd_ = opened_.number();
  return fd_ >= 0;
}

bool Terminal::to_be_handed_over() noexcept {
  if (!can_ask_) find();
  return (stdin_and_stdout_ || !can_ask_) && ours();
}

bool Terminal::ours() const noexcept { return fd_ >= 0 && ::tcgetpgrp(fd_) == ::getpgrp(); }

bool Terminal::lend(pid_t group) noexcept {
  termios modes;
  if (::tcgetattr(fd_, &modes) == 0) modes_ = modes;
  lent_ = ::tcsetpgrp(fd_, group) == 0;
  return lent_;
}

bool Terminal::taken_from_above() const noexcept {
  const pid_t group = ::tcgetpgrp(fd_);
  return group == ::getpgid(::getppid()) || group == ::getpgid(::getsid(0));
}

void Terminal::take_back() noexcept {
  if (lent()) ::tcsetpgrp(fd_, ::getpgrp());
  lent_ = false;
}

void Terminal::restore_modes() noexcept {
  // Not TCSADRAIN: if ^S holds up the output, it would hold us up too.
  if (modes_ && ours()) ::tcsetattr(fd_, TCSANOW, &*modes_);
}

}  // namespace rlock
