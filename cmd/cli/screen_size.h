#pragma once

#include <cstddef>

namespace rlock {

struct ScreenSize {
  std::size_t columns = 80;
  std::size_t lines = 24;
};

/// Of the terminal behind `fd`, as it is now; 80 × 24 where the terminal does not say.
/// REQUIRES: it is one.
ScreenSize screen_size(int fd) noexcept;

/// The columns of the terminal on stdout; 0: it is none, texts are to be whole.
std::size_t stdout_columns() noexcept;

}  // namespace rlock
