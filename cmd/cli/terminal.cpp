#include "cmd/cli/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/descriptor.h"
#include "base/error.h"
#include "cmd/cli/output.h"
#include "loop/ending_signals.h"
#include "loop/signals.h"

namespace rlock {
namespace {

/// The controlling terminal; the destructor restores its settings.
class Terminal {
 public:
  explicit Terminal(const std::string& no_terminal) : fd_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {
    if (!fd_ || ::tcgetattr(fd(), &before_) != 0) throw Error{Error::usage, no_terminal};
  }
  ~Terminal() { ::tcsetattr(fd(), TCSANOW, &before_); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// ^C and ^\ become bytes that we read, so that they cannot end us while the echo is off.
  void take_signals(bool shown) {
    termios ours = before_;
    ours.c_lflag &= ~static_cast<tcflag_t>(ISIG | ICANON);
    if (!shown) ours.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(fd(), TCSAFLUSH, &ours);
  }

  const termios& before() const noexcept { return before_; }
  int fd() const noexcept { return fd_.number(); }

 private:
  Descriptor fd_;
  termios before_{};
};

struct Line {
  std::string text;
  int signal = 0;  ///< the signal that ended the question: sent, or pressed as ^C; 0: none
};

/// Deletes the last character, as the erase key does. In UTF-8 it may have several bytes.
void erase_last(std::string& text, bool utf8) {
  const auto continues = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; };
  while (utf8 && !text.empty() && continues(text.back())) text.pop_back();
  if (!text.empty()) text.pop_back();
}

/// Reads one line, much as a terminal does.
Line read_line(const Terminal& terminal, const EndingSignals& signals) {
  const cc_t* keys = terminal.before().c_cc;
  Line line;
  for (;;) {
    if (const int number = signals.wait(terminal.fd(), POLLIN)) return {.signal = number};
    unsigned char key = 0;
    const ssize_t got = ::read(terminal.fd(), &key, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || key == '\n' || key == '\r' || key == keys[VEOF]) return line;
    if (key == keys[VINTR]) return {.signal = SIGINT};
    if (key == keys[VQUIT]) return {.signal = SIGQUIT};
    if (key == keys[VKILL]) {
      line.text.clear();
    } else if (key == keys[VERASE] || key == '\b' || key == 0x7f) {
      erase_last(line.text, (terminal.before().c_iflag & IUTF8) != 0);
    } else {
      line.text += static_cast<char>(key);
    }
  }
}

std::string ask(std::string_view question, const std::string& no_terminal, bool shown) {
  Line line;
  {
    const EndingSignals signals;
    Terminal terminal{no_terminal};
    terminal.take_signals(shown);
    if (write_all(terminal.fd(), question) != 0) throw Error{Error::usage, no_terminal};
    line = read_line(terminal, signals);
    static_cast<void>(write_all(terminal.fd(), shown && line.signal == 0 ? "" : "\n"));
  }
  if (line.signal != 0) die_of(line.signal);
  return line.text;
}

}  // namespace

std::string ask_on_terminal(std::string_view question, const std::string& no_terminal) {
  return ask(question, no_terminal, true);
}

std::string ask_secretly(std::string_view question, const std::string& no_terminal) {
  return ask(question, no_terminal, false);
}

}  // namespace rlock
