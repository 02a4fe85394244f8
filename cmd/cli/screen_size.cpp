#include "cmd/cli/screen_size.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace rlock {

ScreenSize screen_size(int fd) noexcept {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {.columns = size.ws_col, .lines = size.ws_row};
}

std::size_t stdout_columns() noexcept {
  return ::isatty(STDOUT_FILENO) != 0 ? screen_size(STDOUT_FILENO).columns : 0;
}

}  // namespace rlock
