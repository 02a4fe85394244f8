#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/text.h"
#include "support/full_pipe.h"

namespace rlock::test {

/// While this object lives, the stderr of this process is a pipe, and only the test reads it.
class CapturedStderr {
 public:
  CapturedStderr() : before_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) {
    REQUIRE(pipe_);
    ::dup2(pipe_.writing.number(), STDERR_FILENO);
    pipe_.writing.reset();
    ::fcntl(pipe_.reading.number(), F_SETFL, O_NONBLOCK);
  }
  ~CapturedStderr() { ::dup2(before_.number(), STDERR_FILENO); }
  CapturedStderr(const CapturedStderr&) = delete;
  CapturedStderr& operator=(const CapturedStderr&) = delete;

  /// What was written since the last call.
  std::string take() {
    std::string text(1 << 17, '\0');
    const ssize_t got = ::read(pipe_.reading.number(), text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

  /// The same as lines, without "rlock: ".
  std::vector<std::string> take_lines() {
    std::vector<std::string> lines;
    for (const std::string& line : split(take(), '\n'))
      if (!line.empty()) lines.push_back(line.substr(line.starts_with("rlock: ") ? 7 : 0));
    return lines;
  }

  /// From now on the pipe has no room, until take().
  void fill() { fill_pipe(STDERR_FILENO); }

  void close_reader() { pipe_.reading.reset(); }

 private:
  Descriptor before_;
  Pipe pipe_;
};

}  // namespace rlock::test
