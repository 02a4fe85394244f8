#include "cmd/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/time.h"

namespace rlock {
namespace {

/// Between two tries to write where somebody else made the terminal non-blocking.
constexpr Milliseconds kNonBlockingPause{10};

/// All of `text`, or what went wrong.
int write_all(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      std::this_thread::sleep_for(kNonBlockingPause);
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
