#include "cmd/cli/full_screen.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <thread>

#include "base/blocking.h"
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

struct Sequence {
  std::string_view bytes;
  Meaning meaning;
};

/// If one sequence is the beginning of another, the longer one stands first.
constexpr Sequence kSequences[] = {
    {"\x1b[A", Meaning::up},   {"\x1bOA", Meaning::up},       {"\x1b[B", Meaning::down},
    {"\x1bOB", Meaning::down}, {"\x1b[5~", Meaning::page_up}, {"\x1b[6~", Meaning::page_down},
    {"\x1b[H", Meaning::home}, {"\x1bOH", Meaning::home},     {"\x1b[1~", Meaning::home},
    {"\x1b[F", Meaning::end},  {"\x1bOF", Meaning::end},      {"\x1b[4~", Meaning::end},
    {"q", Meaning::quit},      {"Q", Meaning::quit},          {"s", Meaning::sort},
    {"k", Meaning::up},        {"j", Meaning::down},          {"?", Meaning::help},
    {"h", Meaning::help},      {"\r", Meaning::enter},        {"\n", Meaning::enter},
    {"/", Meaning::filter},    {"\x7f", Meaning::erase},      {"\b", Meaning::erase},
};

/// The length of an unknown control sequence up to its final byte. 0: it is not complete yet.
std::size_t length_of_sequence(std::string_view bytes) {
  if (bytes.size() < 2) return 1;
  if (bytes[1] == 'O') return bytes.size() < 3 ? 0 : 3;
  if (bytes[1] != '[') return 1;
  const auto is_final = [](char c) { return c >= 0x40 && c <= 0x7e; };
  const auto* end = std::find_if(bytes.begin() + 2, bytes.end(), is_final);
  return end == bytes.end() ? 0 : static_cast<std::size_t>(end - bytes.begin()) + 1;
}

/// Is it no control character?
bool is_text(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; }

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

std::vector<Stroke> strokes_in(std::string& bytes) {
  std::vector<Stroke> strokes;
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const auto* known =
        std::ranges::find_if(kSequences, [&](const Sequence& one) { return rest.starts_with(one.bytes); });
    std::size_t length = 1;
    if (known != std::end(kSequences)) {
      length = known->bytes.size();
      strokes.emplace_back(known->meaning, is_text(known->bytes.front()) ? std::string{known->bytes} : "");
    } else if (rest.front() == '\x1b') {
      length = length_of_sequence(rest);
      if (length == 0) break;
      strokes.emplace_back(length == 1 ? Meaning::escape : Meaning::other);
    } else {
      strokes.emplace_back(Meaning::other, is_text(rest.front()) ? std::string{rest.front()} : "");
    }
    rest.remove_prefix(length);
  }
  bytes = std::string{rest};
  return strokes;
}

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
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string lower{value};
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    return lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
  }
  return false;
}

FullScreen::FullScreen(Loop& loop, std::string_view instead) : loop_(loop), utf8_(shows_utf8()) {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0)
    throw Error{Error::usage, fmt::format("this is no terminal; {}", instead)};
  const char* kind = std::getenv("TERM");
  const bool known = kind != nullptr && *kind != '\0';
  if (!known || std::string_view{kind} == "dumb")
    throw Error{Error::usage, fmt::format("this terminal cannot be drawn on (TERM is {}); {}",
                                          known ? "dumb" : "not set", instead)};
  tty_.reset(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!tty_ || ::tcgetattr(tty_.number(), &before_) != 0)
    throw Error{Error::usage, fmt::format("there is no terminal of our own; {}", instead)};
  loop_.join(*this);
}

FullScreen::~FullScreen() {
  leave();
  loop_.leave(*this);
}

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

short FullScreen::interest() const { return POLLIN; }

void FullScreen::ready(short, TimePoint) {
  char bytes[256];
  const ssize_t got = ::read(tty_.number(), bytes, sizeof bytes);
  if (got > 0) typed_.append(bytes, static_cast<std::size_t>(got));
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) gone_ = true;
}

}  // namespace rlock
