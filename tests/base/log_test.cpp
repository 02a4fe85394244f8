#include "base/log.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

#include "base/descriptor.h"
#include "support/captured_stderr.h"
#include "support/eventually.h"
#include "support/forked.h"

using namespace rlock;
using namespace std::chrono_literals;

namespace {

/// Sets the verbosity, and restores the old one at the end.
struct Level {
  explicit Level(Verbosity wanted) { set_verbosity(wanted); }
  ~Level() { set_verbosity(before); }
  Verbosity before = verbosity();
};

}  // namespace

TEST_CASE("a line has our name in front and a newline behind") {
  test::CapturedStderr pipe;
  warn("cannot do that");
  CHECK(pipe.take() == "rlock: cannot do that\n");

  warn("");
  CHECK(pipe.take() == "rlock: \n");
}

TEST_CASE("verbosity decides which lines are printed") {
  test::CapturedStderr pipe;
  const auto said = [&](Verbosity level) {
    const Level now{level};
    warn("a");
    info("b");
    debug("c");
    return pipe.take();
  };
  CHECK(said(Verbosity::quiet) == "rlock: a\n");
  CHECK(said(Verbosity::normal) == "rlock: a\nrlock: b\n");
  const std::string all = said(Verbosity::verbose);
  CHECK(all.starts_with("rlock: a\nrlock: b\nrlock: +"));
  CHECK(all.ends_with("s c\n"));
}

TEST_CASE("a line that is longer than a pipe takes in one write arrives whole") {
  test::CapturedStderr pipe;
  const std::string text = std::string(10'000, 'a') + std::string(3 * PIPE_BUF, 'b');
  warn(text);
  CHECK(pipe.take() == "rlock: " + text + "\n");
}

TEST_CASE("if no process reads our stderr, the line is dropped and rlock goes on") {
  test::CapturedStderr pipe;
  pipe.fill();

  const test::StopWatch watch;
  for (int i = 0; i < 50; ++i) warn("does anybody hear me?");
  CHECK(watch.elapsed() < 2s);  // rlock waits once for 100 ms, not fifty times

  pipe.take();
  warn("hello again");
  CHECK(pipe.take() == "rlock: hello again\n");
}

TEST_CASE("a terminal that nobody reads does not stop rlock, even if it has room for half a line") {
  const int status = test::in_another_process([] {
    const Descriptor reader{::posix_openpt(O_RDWR | O_NOCTTY)};
    ::grantpt(reader.number());
    ::unlockpt(reader.number());
    const Descriptor terminal{::open(::ptsname(reader.number()), O_RDWR | O_NOCTTY)};
    ::dup2(terminal.number(), STDERR_FILENO);
    ::alarm(20);  // ends this process if a write blocks
    for (int i = 0; i < 3000; ++i) warn(std::string(static_cast<std::size_t>(i % 200), 'x'));
    return 0;
  });
  CHECK(status == 0);
}

TEST_CASE("rlock goes on if its stderr is closed or broken") {
  const auto before = ::signal(SIGPIPE, SIG_IGN);  // as main does
  {
    test::CapturedStderr pipe;
    pipe.close_reader();
    CHECK_NOTHROW(warn("to nobody"));

    ::close(STDERR_FILENO);
    CHECK_NOTHROW(warn("to nothing"));
  }
  ::signal(SIGPIPE, before);
}
