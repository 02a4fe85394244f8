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

 private:
  Descriptor reading_, writing_;
};

}  // namespace rlock::test
