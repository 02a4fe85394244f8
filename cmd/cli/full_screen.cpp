#include "cmd/cli/full_screen.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <thread>

#include "base/blocking.h"
#include "base/environment.h"
#include "base/error.h"

namespace rlock {
namespace {

/// Switches to the alternate screen, hides the cursor, and turns off wrapping; kLeave reverts this.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

/// If a terminal takes no output for this long, the screen is drawn again next time.
constexpr Milliseconds kTerminalPatience{100};

/// The pause between two tries to write to a full terminal.
constexpr Milliseconds kFullPause{2};

std::string in_ascii(std::string_view text) {
  std::string ascii;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) ascii += c;
    if (byte >= 0xc0) ascii += '?';
  }
  return ascii;
}

}  // namespace

std::string drawn(const std::vector<ScreenLine>& lines, ScreenSize size, bool utf8) {
  std::string text = "\x1b[H";
  for (std::size_t i = 0; i < size.lines; ++i) {
    // Erases first, because behind a full line the cursor stands on its last character.
    text += i > 0 ? "\r\n\x1b[K" : "\x1b[K";
    if (i >= lines.size()) continue;
    const std::string line = utf8 ? lines[i].text : in_ascii(lines[i].text);
    text += lines[i].marked ? "\x1b[7m" + line + "\x1b[0m" : line;
  }
  return text;
}

bool shows_utf8() noexcept {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    auto value = environment_variable(name);
    if (!value) continue;
    std::ranges::transform(*value, value->begin(), [](unsigned char c) { return std::tolower(c); });
    return value->find("utf-8") != std::string::npos || value->find("utf8") != std::string::npos;
  }
  return false;
}

FullScreen::FullScreen(Loop& loop, std::string_view instead) : utf8_(shows_utf8()), membership_(loop, *this) {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0)
    throw Error{Error::usage, fmt::format("this is no terminal; {}", instead)};
  const auto kind = environment_variable("TERM");
  if (!kind || kind == "dumb")
    throw Error{Error::usage, fmt::format("this terminal cannot be drawn on (TERM is {}); {}",
                                          kind.value_or("not set"), instead)};
  tty_.reset(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!tty_ || ::tcgetattr(tty_.number(), &before_) != 0)
    throw Error{Error::usage, fmt::format("there is no terminal of our own; {}", instead)};
}

FullScreen::~FullScreen() { leave(); }

void FullScreen::enter() {
  termios ours = before_;
  ours.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  ours.c_iflag &= ~static_cast<tcflag_t>(IXON);
  ::tcsetattr(tty_.number(), TCSADRAIN, &ours);
  drawn_.clear();
  entered_ = true;
  static_cast<void>(write(kEnter));
}

void FullScreen::leave() noexcept {
  if (!entered_) return;
  entered_ = false;
  static_cast<void>(write(kLeave));
  ::tcsetattr(tty_.number(), TCSADRAIN, &before_);
}

bool FullScreen::write(std::string_view text) noexcept {
  const TimePoint until = within(kTerminalPatience).until;
  while (!text.empty()) {
    const ssize_t written = ::write(tty_.number(), text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written < 0 && errno == EAGAIN && !has_passed(until)) {
      std::this_thread::sleep_for(kFullPause);
    } else if (written == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

void FullScreen::draw(const std::vector<ScreenLine>& lines) {
  if (!entered_) return;
  std::string text = drawn(lines, size(), utf8_);
  if (text == drawn_) return;
  drawn_ = write(text) ? std::move(text) : "";
}

std::vector<Stroke> FullScreen::take_strokes() { return strokes_in(typed_); }

void FullScreen::ready(short, TimePoint) {
  char bytes[256];
  const ssize_t got = ::read(tty_.number(), bytes, sizeof bytes);
  if (got > 0) typed_.append(bytes, static_cast<std::size_t>(got));
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) gone_ = true;
}

}  // namespace rlock
