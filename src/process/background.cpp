#include "process/background.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
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
  bool at_work() {
    const char byte = '1';
    (void)!::write(ready.writing.number(), &byte, 1);
    ready.writing.reset();
    const bool allowed = gets_byte(go_on.reading);
    go_on.reading.reset();
    return allowed;
  }

  /// False: the other process has ended, or closed its end.
  static bool gets_byte(const Descriptor& from) {
    char byte = 0;
    ssize_t got = 0;
    do got = ::read(from.number(), &byte, 1);
    while (got < 0 && errno == EINTR);
    return got == 1;
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

/// Does a reader wait until every process has closed it?
bool is_stream(const struct stat& file) { return S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode); }

bool same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
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
  if (!ReadyPipes::gets_byte(pipes.ready.reading))
    throw Error{Error::system, "the process that keeps it has ended"};
  then();
  const char byte = '1';
  (void)!::write(pipes.go_on.writing.number(), &byte, 1);
}

bool is_our_stdout(int fd) {
  struct stat out, other;
  if (::fstat(STDOUT_FILENO, &out) != 0 || ::fstat(fd, &other) != 0) return false;
  return is_stream(out) && same_file(out, other);
}

bool may_keep_stderr(pid_t pid) {
  struct stat ours, its;
  if (::fstat(STDERR_FILENO, &ours) != 0) return false;
  if (!is_stream(ours)) return true;
  return ::stat(("/proc/" + std::to_string(pid) + "/fd/2").c_str(), &its) == 0 && same_file(ours, its);
}

std::size_t free_descriptors(std::size_t most) {
  std::vector<Descriptor> open;
  while (open.size() < most) {
    Descriptor next{::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)};
    if (!next) break;
    open.push_back(std::move(next));
  }
  return open.size();
}

int may_signal(pid_t pid) noexcept { return ::kill(pid, 0) == 0 ? 0 : errno; }

}  // namespace rlock
