#include "cmd/cli/output.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/time.h"
#include "base/write_all.h"
#include "loop/ending_signals.h"
#include "loop/signals.h"
#include "process/std_descriptors.h"

namespace rlock {

int try_print(std::string_view text, const Patience& patience) noexcept {
  if (is_placeholder(STDOUT_FILENO)) return EBADF;
  return write_all(STDOUT_FILENO, text, patience);
}

void refuse_output(int error, std::string_view undone) {
  throw Error{Error::system, fmt::format("write error on stdout: {}{}", std::strerror(error), undone)};
}

Patience until_killed(int fd) {
  return {.until = kNever, .interrupted = [fd] {
            if (const int signal = EndingSignals{}.wait(fd, POLLOUT)) die_of(signal);
            return false;
          }};
}

void print(std::string_view text) {
  if (const int failed = try_print(text, until_killed(STDOUT_FILENO))) refuse_output(failed);
}

void print_line(std::string_view line) { print(std::string{line} + "\n"); }

void print_on_stderr(std::string_view text) noexcept {
  static_cast<void>(write_all(STDERR_FILENO, text, until_killed(STDERR_FILENO)));
}

}  // namespace rlock
