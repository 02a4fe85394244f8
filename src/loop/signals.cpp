// Signals as facts. All that we handle are blocked and read from a signalfd, so none ever interrupts us:
// drain() notes them, and callers look when they are ready. What was ignored when we were started stays
// ignored, because nohup and a shell's background jobs mean that.
//
// ^Z is the exception. While we only wait, the kernel stops us as any process. While a command runs it must
// be stopped before us, so TSTP becomes a fact too (take_stops()), and stop() then stops us on purpose. That
// is the subtle part: sending TSTP discards a pending CONT, and with it the only signal that would ever
// continue us. So CONT is delivered to a handler while we stop (ContinueWatch), and when it comes first, we
// do not stop at all.

#include "loop/signals.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "loop/signal_names.h"

namespace rlock {
namespace {

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

/// Signals that end a wait. ALRM: an alarm that was set before exec still comes, and some scripts use it as a
/// timeout.
constexpr int kEnders[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGALRM};

bool contains(const auto& numbers, int number) {
  return std::ranges::find(numbers, number) != std::end(numbers);
}

/// Signals that were ignored when we were started. Real-time signals are not asked for: the command inherits
/// what they are.
std::bitset<NSIG> ignored_now() {
  std::bitset<NSIG> ignored;
  for (int number = 1; number < SIGSYS + 1; ++number) {
    struct sigaction action;
    if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
      ignored.set(static_cast<std::size_t>(number));
  }
  return ignored;
}

/// The signals that we read instead of letting the kernel deliver them.
sigset_t ours(const std::bitset<NSIG>& ignored) {
  sigset_t all;
  ::sigfillset(&all);
  for (int fault : kFaults) ::sigdelset(&all, fault);
  for (int number = 1; number < NSIG; ++number)
    if (ignored[static_cast<std::size_t>(number)]) ::sigdelset(&all, number);
  ::sigaddset(&all, SIGCHLD);
  ::sigdelset(&all, SIGPIPE);
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

/// A SIGCONT was delivered to ContinueWatch.
volatile std::sig_atomic_t continued = 0;

/// Lets SIGCONT be delivered while it lives, so that it is never pending and sending TSTP cannot discard it.
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

Signals::Signals(Loop& loop) : loop_(loop), ignored_(ignored_now()) {
  sigset_t taken = ours(ignored_);
  sigset_t blocked = taken;
  ::sigdelset(&blocked, SIGTSTP);
  ::sigprocmask(SIG_BLOCK, &blocked, &inherited_);
  set_disposition(SIGCHLD, SIG_DFL, &child_ended_);
  set_disposition(SIGPIPE, SIG_IGN, &pipe_closed_);

  ::sigdelset(&taken, SIGCHLD);  // blocked by us, read by Child
  fd_.reset(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_) throw Error{Error::system, std::string{"cannot watch for signals: "} + std::strerror(errno)};
  loop_.join(*this);
}

Signals::~Signals() { loop_.leave(*this); }

short Signals::interest() const { return POLLIN; }

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
      note({static_cast<int>(infos[i].ssi_signo), by_process, static_cast<pid_t>(infos[i].ssi_pid)});
    }
    if (count < std::size(infos)) return;
  }
}

void Signals::take_stops() const noexcept {
  if (ignored(SIGTSTP)) return;
  const sigset_t tstp = only(SIGTSTP);
  ::sigprocmask(SIG_BLOCK, &tstp, nullptr);
}

void Signals::stop(pid_t whom) {
  {
    const ContinueWatch watch;
    // The default action, not STOP: an orphaned group, which no shell would continue, is not stopped by it.
    // TSTP stays pending until it is unblocked, and a CONT from here on cancels it.
    if (!watch.has_come()) ::kill(whom, SIGTSTP);
    const sigset_t tstp = only(SIGTSTP);
    const timespec at_once{};
    if (watch.has_come()) ::sigtimedwait(&tstp, nullptr, &at_once);
    ::sigprocmask(SIG_UNBLOCK, &tstp, nullptr);
    // Here we are stopped, until a CONT arrives.
    take_stops();
  }
  drain();  // what came while we were stopped
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
  caught_.push_back(caught);
  if (caught.number == SIGUSR1) ++questions_;
  if (!contains(kEnders, caught.number)) return;
  if (ended_) insisted_ = true;
  if (!ended_) ended_ = caught.number;
}

std::vector<Caught> Signals::take() { return std::exchange(caught_, {}); }

void Signals::restore() const noexcept {
  ::sigaction(SIGCHLD, &child_ended_, nullptr);
  ::sigaction(SIGPIPE, &pipe_closed_, nullptr);
  ::sigprocmask(SIG_SETMASK, &inherited_, nullptr);
}

void die_of(int number) noexcept {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::prctl(PR_SET_DUMPABLE, 0);  // a core that is piped to a program knows no limit
  set_disposition(number, SIG_DFL, nullptr);
  ::kill(::getpid(), number);
  const sigset_t set = only(number);
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  ::_exit(128 + number);  // as PID 1, or if this signal ends no process
}

std::string signal_name(int number) {
  if (number >= SIGRTMIN && number <= SIGRTMAX) return "SIGRTMIN+" + std::to_string(number - SIGRTMIN);
  const char* name = signal_abbreviation(number);
  return name ? std::string{"SIG"} + name : "signal " + std::to_string(number);
}

}  // namespace rlock
