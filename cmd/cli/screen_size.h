#pragma once

#include <cstddef>

namespace rlock {

struct ScreenSize {
  std::size_t columns = 80;
  std::size_t lines = 24;
};

/// The current size of the terminal `fd`; 80 × 24 if the terminal does not tell it.
/// REQUIRES: it is a terminal.
ScreenSize screen_size(int fd) noexcept;

/// The columns of the terminal on stdout; 0: there is none, so texts are not cut.
std::size_t stdout_columns() noexcept;

}  // namespace rlock
