#include "cmd/secrets.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"

namespace rlock {
namespace {

/// A terminal that does not show what is typed, until it ends.
class Unseen {
 public:
  explicit Unseen(int terminal) : terminal_(terminal) {
    if (tcgetattr(terminal_, &before_) != 0)
      throw Error{Error::usage, "--askpass: the terminal cannot hide what is typed"};
    termios unseen = before_;
    unseen.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    unseen.c_lflag |= static_cast<tcflag_t>(ECHONL);
    tcsetattr(terminal_, TCSAFLUSH, &unseen);
  }
  ~Unseen() { tcsetattr(terminal_, TCSAFLUSH, &before_); }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

 private:
  int terminal_;
  termios before_{};
};

struct Terminal {
  int fd = ::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  ~Terminal() {
    if (fd >= 0) ::close(fd);
  }
};

/// One line, newline excluded; nothing more than the line is read.
std::string read_line(int fd) {
  std::string line;
  for (;;) {
    char byte = 0;
    const ssize_t got = ::read(fd, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || byte == '\n') return line;
    line += byte;
  }
}

}  // namespace

void hide_passwords(int argc, char** argv) noexcept {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::size_t scheme = word.find("://");
    if (scheme == std::string_view::npos) continue;
    // A password may hold a literal '@' or '/' that makes the URL unparsable: then too it must not be seen.
    const std::size_t at = word.rfind('@');
    const std::size_t colon = word.find(':', scheme + 3);
    if (at == std::string_view::npos || colon == std::string_view::npos || colon > at) continue;
    std::fill(argv[i] + colon + 1, argv[i] + at, '*');
  }
}

std::string ask_password() {
  const Terminal terminal;
  if (terminal.fd < 0)
    throw Error{Error::usage, "--askpass: there is no terminal to ask on; use --password-file"};
  const Unseen unseen{terminal.fd};
  constexpr std::string_view kPrompt = "Password: ";
  if (::write(terminal.fd, kPrompt.data(), kPrompt.size()) < 0)
    throw Error{Error::system, "--askpass: cannot write to the terminal"};
  std::string password = read_line(terminal.fd);
  if (password.empty()) throw Error{Error::usage, "--askpass: no password was typed"};
  return password;
}

}  // namespace rlock
