#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "base/descriptor.h"

namespace rlock::test {

/// A pipe that has no room, because nobody reads it.
class FullPipe {
 public:
  FullPipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    reading_.reset(ends[0]);
    writing_.reset(ends[1]);
    REQUIRE(::fcntl(writing(), F_SETFL, O_NONBLOCK) == 0);
    const std::string much(4096, 'x');
    while (::write(writing(), much.data(), much.size()) > 0) {}
    REQUIRE(::fcntl(writing(), F_SETFL, 0) == 0);
  }

  int writing() const noexcept { return writing_.number(); }

  void close_reader() { reading_.reset(); }

  /// Reads all that was written, until the other processes have closed their writing ends.
  std::string read_all() {
    writing_.reset();
    std::string text;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(reading_.number(), buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(got));
    return text;
  }

 private:
  Descriptor reading_, writing_;
};

}  // namespace rlock::test
