// The background process is a fork, in a session of its own. Two pipes keep it in step with us: it says that it is
// ready, and we say whether to go on. If either process dies first, the other one reads the end of a pipe.

#include "process/background.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/log.h"
#include "process/close_range.h"
#include "process/fork.h"
#include "process/script_tag.h"
#include "process/std_descriptors.h"

namespace rlock {
namespace {

/// Gives up the session, the terminal, all descriptors but `kept`, and the tag of a script above us.
/// Throws Error{system}.
void detach(std::vector<int> kept) {
  ::setsid();
  shed_tag();
  close_all_but(std::move(kept));  // first: the script may have had as many open as RLIMIT_NOFILE allows
  fill_std_descriptors();
}

/// Two pipes: the background process reports that it is ready, and is told to go on.
struct ReadyPipes {
  Pipe ready, go_on;

  ReadyPipes() {
    if (!ready || !go_on) throw_system_error("cannot start a process");
  }

  /// Called in the background process: reports that it is ready, and waits until it is told to go on.
  Start at_work() {
    put(ready.writing, kReady);
    const char told = get(go_on.reading);
    go_on.reading.reset();
    return told == kNothing ? Start::parent_died : told == kGoOn ? Start::now : Start::taken_back;
  }

  static constexpr char kNothing = 0, kReady = 'r', kGoOn = 'g', kTakenBack = 't';

  /// kNothing: the other process has ended, or closed its end.
  static char get(const Descriptor& from) {
    char byte = kNothing;
    while (::read(from.number(), &byte, 1) < 0 && errno == EINTR) continue;
    return byte;
  }

  static void put(Descriptor& into, char byte) {
    (void)!::write(into.number(), &byte, 1);
    into.reset();
  }
};

void go_on(const BackgroundWork& work, ReadyPipes& pipes, std::vector<int> kept) {
  kept.push_back(pipes.ready.writing.number());
  kept.push_back(pipes.go_on.reading.number());
  try {
    detach(std::move(kept));
    work([&pipes] { return pipes.at_work(); });
  } catch (const std::exception& error) {  // main() of our parent process cannot catch it
    warn(error.what());
    throw;
  }
}

}  // namespace

void go_on_in_background(const BackgroundWork& work, const std::function<void()>& then,
                         std::vector<int> kept) {
  ReadyPipes pipes;
  const pid_t process = fork_for([&] {
    pipes.ready.reading.reset();
    pipes.go_on.writing.reset();
    go_on(work, pipes, std::move(kept));
  });
  if (process < 0) throw_system_error("cannot start a process");
  pipes.ready.writing.reset();
  pipes.go_on.reading.reset();
  if (ReadyPipes::get(pipes.ready.reading) == ReadyPipes::kNothing)
    throw Error{Error::system, "the process that keeps it has ended"};
  try {
    then();
  } catch (...) {  // goes on to the caller
    ReadyPipes::put(pipes.go_on.writing, ReadyPipes::kTakenBack);
    throw;
  }
  ReadyPipes::put(pipes.go_on.writing, ReadyPipes::kGoOn);
}

}  // namespace rlock
