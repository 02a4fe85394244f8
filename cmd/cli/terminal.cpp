#include "cmd/cli/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/write_all.h"
#include "loop/ending_signals.h"
#include "loop/signals.h"
#include "process/job_control.h"

namespace rlock {
namespace {

/// Does the terminal show what is typed?
enum class Echo { shown, hidden };

/// The controlling terminal while we ask; the destructor restores its settings.
class Prompt {
 public:
  explicit Prompt(const Error& no_terminal) : fd_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {
    if (!fd_ || ::tcgetattr(fd(), &before_) != 0) throw no_terminal;
  }
  ~Prompt() { restore(); }
  Prompt(const Prompt&) = delete;
  Prompt& operator=(const Prompt&) = delete;

  /// ^C, ^\ and ^Z become bytes that we read, so that they cannot end or stop us while the echo is off.
  void take_signals(Echo echo) {
    termios ours = before_;
    ours.c_lflag &= ~static_cast<tcflag_t>(ISIG | ICANON);
    if (echo == Echo::hidden) ours.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(fd(), TCSAFLUSH, &ours);
  }

  /// In the background the settings are another job's, and the kernel would stop us for changing them.
  void restore() {
    if (is_ours()) ::tcsetattr(fd(), TCSANOW, &before_);
  }

  /// Are we in the foreground?
  bool is_ours() const { return ::tcgetpgrp(fd()) == ::getpgrp(); }

  const termios& before() const noexcept { return before_; }
  int fd() const noexcept { return fd_.number(); }

 private:
  Descriptor fd_;
  termios before_{};
};

struct Typed {
  std::string text;
  int signal = 0;  ///< the signal that came instead of an answer: sent, or pressed as ^C or ^Z; 0: none
};

/// Reads one line, much as a terminal does.
Typed read_line(const Prompt& prompt, const EndingSignals& signals) {
  const cc_t* strokes = prompt.before().c_cc;
  Typed typed;
  for (;;) {
    if (const int number = signals.wait(prompt.fd(), POLLIN)) return {.signal = number};
    unsigned char stroke = 0;
    const ssize_t got = ::read(prompt.fd(), &stroke, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || stroke == '\n' || stroke == '\r' || stroke == strokes[VEOF]) return typed;
    if (stroke == strokes[VINTR]) return {.signal = SIGINT};
    if (stroke == strokes[VQUIT]) return {.signal = SIGQUIT};
    if (stroke == strokes[VSUSP]) return {.signal = SIGTSTP};
    if (stroke == strokes[VKILL]) {
      typed.text.clear();
    } else if (stroke == strokes[VERASE] || stroke == '\b' || stroke == 0x7f) {
      erase_last_character(typed.text, (prompt.before().c_iflag & IUTF8) != 0);
    } else {
      typed.text += static_cast<char>(stroke);
    }
  }
}

Typed ask_once(std::string_view question, const Error& no_terminal, const Prompt& prompt,
               const EndingSignals& signals) {
  Typed typed;
  const Patience until_signal{.until = kNever, .interrupted = [&] {
                                typed.signal = signals.wait(prompt.fd(), POLLOUT);
                                return typed.signal != 0;
                              }};
  const int failed = write_all(prompt.fd(), question, until_signal);
  if (failed != 0 && typed.signal == 0) throw no_terminal;
  return typed.signal != 0 ? typed : read_line(prompt, signals);
}

/// Stops as at ^Z. Returns the first of the signals that came meanwhile; 0: nothing stops us, because no shell would
/// continue us.
int stop(const Prompt& prompt, const EndingSignals& signals) {
  share_with_group(SIGTSTP);  // returns when we go on
  return signals.wait(prompt.fd(), POLLOUT);
}

std::string ask(std::string_view question, const Error& no_terminal, Echo echo) {
  Typed typed{.signal = SIGCONT};  // we are asked to go on: at first, and after each stop
  {
    const EndingSignals signals{{SIGCONT}};
    Prompt prompt{no_terminal};
    while (typed.signal == SIGCONT || typed.signal == SIGTSTP) {
      if (typed.signal == SIGTSTP || !prompt.is_ours()) {
        prompt.restore();
        typed.signal = stop(prompt, signals);
        if (typed.signal != 0) continue;
      }
      prompt.take_signals(echo);  // while we were stopped, the shell has shown the echo again
      typed = ask_once(question, no_terminal, prompt, signals);
      if (echo == Echo::hidden || typed.signal != 0)
        static_cast<void>(write_all(prompt.fd(), "\n", {.until = TimePoint::min()}));
    }
  }
  if (typed.signal != 0) die_of(typed.signal);
  return typed.text;
}

}  // namespace

void erase_last_character(std::string& text, bool utf8) {
  const auto continues = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; };
  while (utf8 && !text.empty() && continues(text.back())) text.pop_back();
  if (!text.empty()) text.pop_back();
}

std::string ask_on_terminal(std::string_view question, const Error& no_terminal) {
  return ask(question, no_terminal, Echo::shown);
}

std::string ask_secretly(std::string_view question, const Error& no_terminal) {
  return ask(question, no_terminal, Echo::hidden);
}

}  // namespace rlock
