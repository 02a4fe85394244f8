#include "cmd/output.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string>

#include "base/error.h"

namespace rlock {
namespace {

/// While it lives, a write to a pipe without a reader fails with EPIPE and raises nothing.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoSigpipe() {
    const timespec at_once{};
    while (sigtimedwait(&pipe_, nullptr, &at_once) == -1 && errno == EINTR) {}
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

/// All of `text`, or what went wrong.
int write_all(int fd, std::string_view text) noexcept {
  const NoSigpipe quiet;
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd writable{fd, POLLOUT, 0};  // somebody else made the terminal non-blocking
      ::poll(&writable, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

void print(std::string_view text) {
  if (const int failed = write_all(STDOUT_FILENO, text))
    throw Error{Error::system, fmt::format("write error on stdout: {}", std::strerror(failed))};
}

void print_line(std::string_view line) { print(std::string{line} + "\n"); }

void print_on_stderr(std::string_view text) noexcept { write_all(STDERR_FILENO, text); }

}  // namespace rlock
