#include "loop/signals.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/std_descriptors.h"
#include "support/forked.h"

using namespace rlock;
using namespace rlock::test;

namespace {

std::vector<int> numbers(const std::vector<Caught>& caught) {
  std::vector<int> result;
  for (const Caught& one : caught) result.push_back(one.number);
  return result;
}

bool blocked(int number) {
  sigset_t now;
  ::sigprocmask(SIG_BLOCK, nullptr, &now);
  return ::sigismember(&now, number) == 1;
}

}  // namespace

TEST_CASE("a signal is a fact to look at, not an interruption") {
  CHECK(status_of([] {
          Loop loop;
          Signals signals{loop};
          ::kill(::getpid(), SIGTERM);
          ::kill(::getpid(), SIGUSR2);
          loop.turn(kNever);

          const bool term = signals.ended() == SIGTERM && !signals.insisted();
          const bool both = numbers(signals.take()) == std::vector<int>{SIGUSR2, SIGTERM};
          return term && both && signals.take().empty() ? 0 : 1;
        }) == 0);
}

TEST_CASE("a second signal that ends a wait means that the user insists, and each USR1 is a question") {
  CHECK(status_of([] {
          Loop loop;
          Signals signals{loop};
          ::kill(::getpid(), SIGUSR1);
          loop.turn(kNever);
          ::kill(::getpid(), SIGINT);
          ::kill(::getpid(), SIGUSR1);
          loop.turn(kNever);
          const bool once = signals.ended() == SIGINT && !signals.insisted();
          ::kill(::getpid(), SIGHUP);
          loop.turn(kNever);

          return once && signals.ended() == SIGINT && signals.insisted() && signals.questions() == 2 ? 0 : 1;
        }) == 0);
}

TEST_CASE("a signal says whether a process has sent it") {
  CHECK(status_of([] {
          Loop loop;
          Signals signals{loop};
          ::kill(::getpid(), SIGTERM);
          signals.drain();
          const auto sent = signals.take();
          ::ualarm(1000, 0);
          loop.turn(kNever);
          const auto rung = signals.take();

          if (sent.size() != 1 || !sent[0].by_process) return 1;
          return rung.size() == 1 && rung[0].number == SIGALRM && !rung[0].by_process ? 0 : 2;
        }) == 0);
}

TEST_CASE("a signal that was ignored at the start stays ignored") {
  CHECK(status_of([] {
          ::signal(SIGHUP, SIG_IGN);
          Loop loop;
          Signals signals{loop};
          ::kill(::getpid(), SIGHUP);
          signals.drain();

          return signals.ignored(SIGHUP) && !signals.ignored(SIGTERM) && !signals.any() ? 0 : 1;
        }) == 0);
}

TEST_CASE("a ^Z that was ignored at the start is not reported, and stops no process") {
  CHECK(status_of([] {
          ::signal(SIGTSTP, SIG_IGN);
          Loop loop;
          Signals signals{loop};
          signals.take_stops();
          ::kill(::getpid(), SIGTSTP);
          signals.drain();

          return signals.ignored(SIGTSTP) && !signals.reaches_command(SIGTSTP) && signals.take().empty() ? 0
                                                                                                         : 1;
        }) == 0);
}

TEST_CASE("a signal that was blocked at the start is caught, and blocked again after restore()") {
  CHECK(status_of([] {
          sigset_t term;
          ::sigemptyset(&term);
          ::sigaddset(&term, SIGTERM);
          ::sigprocmask(SIG_BLOCK, &term, nullptr);
          Loop loop;
          Signals signals{loop};
          ::kill(::getpid(), SIGTERM);
          loop.turn(kNever);
          if (signals.ended() != SIGTERM) return 1;

          signals.restore();
          return blocked(SIGTERM) && !blocked(SIGINT) && !blocked(SIGCHLD) ? 0 : 2;
        }) == 0);
}

TEST_CASE("CHLD and PIPE are taken over for our own sake, and given back by restore()") {
  CHECK(status_of([] {
          ::signal(SIGCHLD, SIG_IGN);
          Loop loop;
          Signals signals{loop};
          struct sigaction now;
          ::sigaction(SIGCHLD, nullptr, &now);
          if (now.sa_handler != SIG_DFL) return 1;
          ::sigaction(SIGPIPE, nullptr, &now);
          if (now.sa_handler != SIG_IGN) return 2;

          signals.restore();
          ::sigaction(SIGCHLD, nullptr, &now);
          if (now.sa_handler != SIG_IGN) return 3;
          ::sigaction(SIGPIPE, nullptr, &now);
          return now.sa_handler == SIG_DFL ? 0 : 4;
        }) == 0);
}

TEST_CASE("dying of a signal leaves its number and no core") {
  for (int number : {SIGTERM, SIGINT, SIGKILL, SIGSEGV, SIGQUIT}) {
    const int status = in_another_process([&]() -> int {
      Loop loop;
      Signals signals{loop};
      die_of(number);
    });
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == number);
    CHECK_FALSE(WCOREDUMP(status));
  }
}

TEST_CASE("a signal without a lethal default action still ends rlock with its status") {
  CHECK(status_of([]() -> int { die_of(SIGURG); }) == 128 + SIGURG);
}

TEST_CASE("missing standard descriptors are filled, and only those") {
  CHECK(status_of([] {
          ::close(0);
          ::close(2);
          ::close(3);  // the parent may have left it open
          const int flags_of_stdout = ::fcntl(1, F_GETFD);
          fill_std_descriptors();

          const bool filled = ::fcntl(0, F_GETFD) == FD_CLOEXEC && ::fcntl(2, F_GETFD) == FD_CLOEXEC;
          return filled && ::fcntl(1, F_GETFD) == flags_of_stdout && ::fcntl(3, F_GETFD) < 0 ? 0 : 1;
        }) == 0);
}

TEST_CASE("signals have names") {
  CHECK(signal_name(SIGTERM) == "SIGTERM");
  CHECK(signal_name(SIGRTMIN + 3) == "SIGRTMIN+3");
  for (int number = 1; number < 32; ++number)
    CHECK(signal_name(number) == std::string{"SIG"} + ::sigabbrev_np(number));
}
