#include "loop/ending_signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace rlock {

EndingSignals::EndingSignals(std::vector<int> more) {
  ::sigemptyset(&ours_);
  more.insert(more.end(), kEnders.begin(), kEnders.end());
  for (const int number : more) {
    struct sigaction action = {};
    ::sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_IGN) ::sigaddset(&ours_, number);
  }
  ::sigprocmask(SIG_BLOCK, &ours_, &before_);
  fd_.reset(::signalfd(-1, &ours_, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_)
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);  // no descriptor is free: then they end us as usual
}

EndingSignals::~EndingSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

int EndingSignals::wait(int fd, short events) const {
  pollfd polled[] = {{fd, events, 0}, {fd_.number(), POLLIN, 0}};
  while (::poll(polled, 2, -1) < 0 && errno == EINTR) continue;
  signalfd_siginfo info{};
  return ::read(fd_.number(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

}  // namespace rlock
