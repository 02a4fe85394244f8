#include "loop/job_control.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

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

namespace {

/// A TSTP to us that is passed on, and a CONT that comes before anybody has seen the command stop.
/// Is the command continued when it has stopped (`stops`)? And one that ignores TSTP?
int continue_before_stop(bool stops) {
  return in_another_process([&] {
    ::setpgid(0, 0);
    Loop loop;
    Signals signals{loop};
    signals.take_stops();
    Terminal terminal{true};
    bool we_stop = false;
    JobControl job{signals, terminal, [&] { we_stop = true; }};
    Child child{loop, {{"sleep", "60"}, {}}, [&](pid_t) {
                  signals.restore();
                  if (!stops) ::signal(SIGTSTP, SIG_IGN);
                }};
    const auto told = [&](int number) {
      ::kill(::getpid(), number);
      signals.drain();  // the loop is not turned: nobody has asked for the state of the command
      job.turn(child, Clock::now());
    };

    told(SIGTSTP);
    told(SIGCONT);
    if (job.wants_to_resume() || job.wake_at() == kNever) return 1;
    if (!turns(loop, [&] { return job.turn(child, Clock::now()), job.wants_to_resume(); })) return 2;
    if (we_stop || child.stopped() != stops) return 3;
    job.resume(child);
    const bool runs = turns(loop, [&] { return !child.stopped(); }) && job.wake_at() == kNever;
    child.signal(SIGKILL);
    return runs && turns(loop, [&] { return child.ended(); }) ? 0 : 4;
  });
}

}  // namespace

TEST_CASE("a CONT that comes before the command has stopped waits for that stop") {
  const int status = continue_before_stop(true);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a CONT does not wait for ever for a command that ignores TSTP") {
  const int status = continue_before_stop(false);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
