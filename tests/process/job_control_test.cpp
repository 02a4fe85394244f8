#include "process/job_control.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "support/forked.h"
#include "support/turning.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// Runs a command that is stopped together with this process. `before_stop` runs just before this process
/// stops.
int stop_with_command(const std::function<void()>& before_stop) {
  return in_another_process([&] {
    ::setpgid(0, 0);  // in an orphaned group the default action of TSTP stops no process
    Loop loop;
    Signals signals{loop};
    signals.take_stops();
    Terminal terminal{true};
    bool stops = false;
    JobControl job{signals, terminal, [&] {
                     stops = true;
                     before_stop();
                   }};
    Child child{loop, signals, {{"sleep", "60"}, {}}, [](pid_t) {}};
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

TEST_CASE("if a TSTP to rlock stops the command, rlock stops, too") {
  const int status = stop_with_command([] {});
  REQUIRE(WIFSTOPPED(status));
  CHECK(WSTOPSIG(status) == SIGTSTP);
}

TEST_CASE("a CONT that comes just before rlock stops with the command is not lost") {
  const int status = stop_with_command([] { ::kill(::getpid(), SIGCONT); });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

namespace {

/// A process gets a TSTP and forwards it. A CONT follows before the process has seen the command stop. If `stops` is
/// false, the command ignores TSTP. Returns a wait status: the exit status is 0 if the command was continued.
int continue_before_stop(bool stops) {
  return in_another_process([&] {
    ::setpgid(0, 0);
    Loop loop;
    Signals signals{loop};
    signals.take_stops();
    Terminal terminal{true};
    bool we_stop = false;
    JobControl job{signals, terminal, [&] { we_stop = true; }};
    Child child{loop, signals, {{"sleep", "60"}, {}}, [&](pid_t) {
                  if (!stops) ::signal(SIGTSTP, SIG_IGN);
                }};
    const auto told = [&](int number) {
      ::kill(::getpid(), number);
      signals.drain();  // the loop is not turned: the state of the command is not read
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
