#include "loop/signal_names.h"

#include <signal.h>

namespace rlock {

const char* signal_abbreviation(int number) noexcept {
  switch (number) {
#define RLOCK_SIGNAL(name) \
  case SIG##name: return #name;
    RLOCK_SIGNAL(HUP)
    RLOCK_SIGNAL(INT)
    RLOCK_SIGNAL(QUIT)
    RLOCK_SIGNAL(ILL)
    RLOCK_SIGNAL(TRAP)
    RLOCK_SIGNAL(ABRT)
    RLOCK_SIGNAL(BUS)
    RLOCK_SIGNAL(FPE)
    RLOCK_SIGNAL(KILL)
    RLOCK_SIGNAL(USR1)
    RLOCK_SIGNAL(SEGV)
    RLOCK_SIGNAL(USR2)
    RLOCK_SIGNAL(PIPE)
    RLOCK_SIGNAL(ALRM)
    RLOCK_SIGNAL(TERM)
    RLOCK_SIGNAL(STKFLT)
    RLOCK_SIGNAL(CHLD)
    RLOCK_SIGNAL(CONT)
    RLOCK_SIGNAL(STOP)
    RLOCK_SIGNAL(TSTP)
    RLOCK_SIGNAL(TTIN)
    RLOCK_SIGNAL(TTOU)
    RLOCK_SIGNAL(URG)
    RLOCK_SIGNAL(XCPU)
    RLOCK_SIGNAL(XFSZ)
    RLOCK_SIGNAL(VTALRM)
    RLOCK_SIGNAL(PROF)
    RLOCK_SIGNAL(WINCH)
    RLOCK_SIGNAL(POLL)
    RLOCK_SIGNAL(PWR)
    RLOCK_SIGNAL(SYS)
#undef RLOCK_SIGNAL
    default: return nullptr;
  }
}

}  // namespace rlock
