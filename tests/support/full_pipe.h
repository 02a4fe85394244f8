#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "base/descriptor.h"

namespace rlock::test {

/// Fills a pipe that nobody reads, by its writing end.
inline void fill_pipe(int writing) {
  const int flags = ::fcntl(writing, F_GETFL);
  REQUIRE(::fcntl(writing, F_SETFL, O_NONBLOCK) == 0);
  const std::string much(4096, 'x');
  while (::write(writing, much.data(), much.size()) > 0) continue;
  REQUIRE(::fcntl(writing, F_SETFL, flags) == 0);
}

/// A pipe that has no room, because nobody reads it.
class FullPipe {
 public:
  FullPipe() {
    REQUIRE(pipe_);
    fill_pipe(writing());
  }

  int writing() const noexcept { return pipe_.writing.number(); }

  void close_reader() { pipe_.reading.reset(); }

  /// Reads all that was written, until the other processes have closed their writing ends.
  std::string read_all() {
    pipe_.writing.reset();
    std::string text;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(pipe_.reading.number(), buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(got));
    return text;
  }

 private:
  Pipe pipe_;
};

}  // namespace rlock::test
