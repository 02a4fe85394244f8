#include "loop/job_control.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/forked.h"
#include "support/turning.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// A command that was stopped together with us, and what happens to us just before we stop.
int stop_with_command(const std::function<void()>& before_stop) {
  return in_another_process([&] {
    ::setpgid(0, 0);  // the default action of TSTP stops nobody in an orphaned group
    Loop loop;
    Signals signals{loop};
    signals.take_stops();
    Terminal terminal{true};
    bool stops = false;
    JobControl job{signals, terminal, [&] {
                     stops = true;
                     before_stop();
                   }};
    Child child{loop, {{"sleep", "60"}, {}}, [&](pid_t) { signals.restore(); }};
    const auto turned = [&] { return job.turn(child, Clock::now()), stops; };

    ::kill(::getpid(), SIGTSTP);
    if (!turns(loop, turned) || !job.wants_to_resume()) return 1;
    job.resume(child);
    const bool runs = turns(loop, [&] { return !child.stopped(); });
    child.signal(SIGKILL);
    return runs && turns(loop, [&] { return child.ended(); }) ? 0 : 2;
  });
}

}  // namespace

TEST_CASE("we stop with the command that a signal to us has stopped") {
  const int status = stop_with_command([] {});
  REQUIRE(WIFSTOPPED(status));
  CHECK(WSTOPSIG(status) == SIGTSTP);
}

TEST_CASE("a CONT that comes when we are about to stop with the command is not lost") {
  const int status = stop_with_command([] { ::kill(::getpid(), SIGCONT); });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
