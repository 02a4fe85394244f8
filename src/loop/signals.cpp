// Turns signals into facts. We block the signals that we handle and read them from a signalfd, so they never
// interrupt us. drain() records them, and callers look when they are ready. Signals that were ignored at our
// start stay ignored, because nohup and background jobs of a shell rely on that. The kernel keeps even an
// ignored signal for us while it is blocked, so drain() drops it. We ask for its disposition only then, which
// saves each start thirty system calls.
//
// ^Z is the exception. While we only wait, the kernel stops us like any process. While a command runs, it
// must be stopped before us. So TSTP becomes a fact too (take_stops()), and stop() then stops us on purpose.
// This is subtle: sending TSTP discards a pending CONT, which may be the only signal that would continue us.
// So CONT is delivered to a handler during that time (ContinueWatch). If it comes first, we do not stop.

#include "loop/signals.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <utility>

#include "base/error.h"
#include "loop/ending_signals.h"
#include "loop/signal_names.h"
#include "loop/signals_of_writes.h"

namespace rlock {
namespace {

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

bool contains(const auto& numbers, int number) {
  return std::ranges::find(numbers, number) != std::end(numbers);
}

/// The signals that we read from the signalfd.
sigset_t ours() {
  sigset_t all;
  ::sigfillset(&all);
  for (int fault : kFaults) ::sigdelset(&all, fault);
  for (int of_write : kOfWrites) ::sigdelset(&all, of_write);
  return all;
}

sigset_t only(int number) {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, number);
  return set;
}

void set_disposition(int number, void (*disposition)(int), struct sigaction* before) {
  struct sigaction action = {};
  action.sa_handler = disposition;
  ::sigaction(number, &action, before);
}

/// Set when SIGCONT is delivered to ContinueWatch.
volatile std::sig_atomic_t continued = 0;

/// While it lives, SIGCONT is delivered at once. So it is never pending, and sending TSTP cannot discard it.
class ContinueWatch {
 public:
  ContinueWatch() {
    continued = 0;
    set_disposition(SIGCONT, [](int) { continued = 1; }, &before_);
    const sigset_t cont = only(SIGCONT);
    ::sigprocmask(SIG_UNBLOCK, &cont, nullptr);
  }
  ~ContinueWatch() {
    const sigset_t cont = only(SIGCONT);
    ::sigprocmask(SIG_BLOCK, &cont, nullptr);
    ::sigaction(SIGCONT, &before_, nullptr);
  }
  ContinueWatch(const ContinueWatch&) = delete;
  ContinueWatch& operator=(const ContinueWatch&) = delete;

  static bool has_come() noexcept { return continued != 0; }

 private:
  struct sigaction before_;
};

}  // namespace

Signals::Signals(Loop& loop) : membership_(loop, *this) {
  const sigset_t taken = ours();
  sigset_t blocked = taken;
  ::sigdelset(&blocked, SIGTSTP);
  const bool blocks = ::sigprocmask(SIG_BLOCK, &blocked, &inherited_) == 0;
  set_disposition(SIGCHLD, SIG_DFL, &child_ended_);
  ignore_signals_of_writes();

  if (blocks) fd_.reset(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_) throw_system_error("cannot watch for signals");
}

void Signals::ready(short events, TimePoint) {
  if (events != 0) drain();
}

void Signals::drain() {
  signalfd_siginfo infos[8];
  ssize_t got = 0;
  while ((got = ::read(fd_.number(), infos, sizeof infos)) > 0) {
    const auto count = static_cast<std::size_t>(got) / sizeof infos[0];
    for (std::size_t i = 0; i < count; ++i) {
      const bool by_process = infos[i].ssi_code <= 0 && infos[i].ssi_code != SI_TIMER;
      note({static_cast<int>(infos[i].ssi_signo), by_process});
    }
    if (count < std::size(infos)) return;
  }
}

void Signals::take_stops() const noexcept {
  const sigset_t tstp = only(SIGTSTP);
  ::sigprocmask(SIG_BLOCK, &tstp, nullptr);
}

void Signals::stop(pid_t whom) {
  {
    const ContinueWatch watch;
    // We use the default action of TSTP and not STOP, because TSTP does not stop an orphaned group, which no shell
    // would continue. TSTP stays pending until it is unblocked, and a CONT from here on cancels it.
    if (!watch.has_come()) ::kill(whom, SIGTSTP);
    const sigset_t tstp = only(SIGTSTP);
    const timespec at_once{};
    if (watch.has_come()) ::sigtimedwait(&tstp, nullptr, &at_once);
    ::sigprocmask(SIG_UNBLOCK, &tstp, nullptr);
    // We are stopped here until CONT arrives.
    take_stops();
  }
  drain();  // signals that arrived while we were stopped
}

bool Signals::has_come(int number) {
  drain();
  return std::ranges::find(caught_, number, &Caught::number) != caught_.end();
}

bool Signals::drain_any() {
  drain();
  return any();
}

void Signals::note(const Caught& caught) {
  if (caught.number == SIGCHLD) {
    ++child_changes_;
    return;
  }
  if (ignored(caught.number)) return;
  caught_.push_back(caught);
  if (caught.number == SIGUSR1) ++questions_;
  if (!contains(kEnders, caught.number)) return;
  if (ended_) insisted_ = true;
  if (!ended_) ended_ = caught.number;
}

bool Signals::ignored(int number) const noexcept {
  if (number == SIGCHLD) return child_ended_.sa_handler == SIG_IGN;
  for (std::size_t i = 0; i < kOfWrites.size(); ++i)
    if (number == kOfWrites[i]) return ignore_signals_of_writes()[i].sa_handler == SIG_IGN;
  struct sigaction action;
  ::sigaction(number, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

std::vector<Caught> Signals::take() { return std::exchange(caught_, {}); }

void Signals::restore() const noexcept {
  // exec itself resets a handler to the default action, so only "ignored" would be lost.
  if (ignored(SIGCHLD)) ::sigaction(SIGCHLD, &child_ended_, nullptr);
  for (std::size_t i = 0; i < kOfWrites.size(); ++i)
    ::sigaction(kOfWrites[i], &ignore_signals_of_writes()[i], nullptr);
  ::sigprocmask(SIG_SETMASK, &inherited_, nullptr);
}

void die_of(int number) noexcept {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::prctl(PR_SET_DUMPABLE, 0);  // if cores are piped to a program, the limit does not apply
  set_disposition(number, SIG_DFL, nullptr);
  ::kill(::getpid(), number);
  const sigset_t set = only(number);
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  ::_exit(128 + number);  // as PID 1, or if the signal does not end a process
}

std::string signal_name(int number) {
  if (number >= SIGRTMIN && number <= SIGRTMAX) return "SIGRTMIN+" + std::to_string(number - SIGRTMIN);
  const char* name = signal_abbreviation(number);
  return name ? std::string{"SIG"} + name : "signal " + std::to_string(number);
}

}  // namespace rlock
