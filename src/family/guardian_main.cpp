// The guardian process. It must not die of what kills or stops rlock: a signal to its group or session, a lost terminal, `killall
// rlock`. So it leaves all of that behind first, and then needs nothing but its pipe and /proc.

#include "family/guardian_main.h"

#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "family/command_family.h"
#include "family/guardian_loop.h"
#include "family/script_family.h"
#include "loop/loop.h"
#include "process/close_range.h"
#include "process/script_tag.h"
#include "process/signal_mask.h"

namespace rlock {
namespace {

constexpr int kHighestPriority = -20;

/// The bytes from the first argument to the end of the last one. The kernel puts the arguments, the environment and
/// the name of the file one behind the other. If a library has moved the environment, only the first argument counts.
std::size_t room_of_arguments(const char* first) {
  const char* const file = std::bit_cast<const char*>(::getauxval(AT_EXECFN));  // an address in our stack
  const char* const end = environ != nullptr && *environ != nullptr ? *environ : file;
  return end > first ? static_cast<std::size_t>(end - first) : std::strlen(first);
}

/// Leaves everything that could end this process together with rlock: its session and terminal, its
/// descriptors, signals, and `killall rlock`.
void detach(int orders) {
  ::setsid();
  shed_tag();
  // If this process is stopped, rlock's death continues it: the kernel then sends SIGCONT.
  ::prctl(PR_SET_PDEATHSIG, SIGCONT);
  block_all_signals();
  // All descriptors but one are closed, because a pipe of the command's that we held open would never end for its
  // reader.
  close_all_but({orders});
  // The processes that it has to kill in time must not take its processor time. Most users may not raise a priority.
  // Then it stays as it is.
  ::setpriority(PRIO_PROCESS, 0, kHighestPriority);
  ::prctl(PR_SET_NAME, "guardian");
  // `ps` and `pkill -f` read the arguments. `pkill -f 'run -k deploy'` means rlock, and must not find the guardian.
  char* const name = program_invocation_name;
  const std::size_t room = room_of_arguments(name);
  std::memset(name, 0, room);
  std::memcpy(name, "guardian", std::min(room, std::size_t{8}));
}

}  // namespace

void guardian_main(int orders, const Guarded& guarded, const Deadlines& deadlines) {
  detach(orders);
  Loop loop;
  CommandFamily command{guarded.group, guarded.session, guarded.marks};
  std::optional<ScriptFamily> script;
  if (guarded.script.pid != 0) script.emplace(guarded.script, guarded.session);
  GuardianLoop guardian{orders,  ::getppid(), guarded, script ? static_cast<Family&>(*script) : command,
                        command, deadlines};
  const Membership membership{loop, guardian};
  while (!guardian.over()) loop.turn(kNever);
  if (const auto alone = guardian.left_alone(); alone && guarded.when_nobody_lives)
    guarded.when_nobody_lives(*alone);
  ::_exit(0);
}

}  // namespace rlock
