#include "loop/background.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "loop/close_range.h"
#include "loop/fork.h"
#include "loop/script_tag.h"

namespace rlock {
namespace {

/// Gives up the session, the terminal, all descriptors but stderr and `kept`, and the tag of a script above us.
/// Throws Error{system}.
void detach(std::vector<int> kept) {
  ::setsid();
  shed_tag();
  const bool silent = is_our_stdout(STDERR_FILENO);
  // The descriptors are closed before /dev/null is opened, because the script may have had as many open as
  // RLIMIT_NOFILE allows.
  kept.push_back(STDERR_FILENO);
  std::ranges::sort(kept);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const unsigned first = static_cast<unsigned>(kept[i]) + 1;
    const unsigned next = i + 1 < kept.size() ? static_cast<unsigned>(kept[i + 1]) : 0;
    if (first != next) close_range(first, next - 1);  // behind the last one, closes all
  }
  const Descriptor null{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  // Without /dev/null we would keep stdout open, and its reader would wait for the end of this process.
  if (!null) throw Error{Error::system, fmt::format("cannot open /dev/null: {}", reason(errno))};
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) ::dup2(null.number(), fd);
  if (silent) ::dup2(null.number(), STDERR_FILENO);
}

/// Two pipes: the background process reports that it is ready, and is told to go on.
struct ReadyPipes {
  Descriptor ready, report;   ///< the ends of the first: ours, and that of the background process
  Descriptor go_on, is_told;  ///< of the second

  ReadyPipes() {
    std::array<int, 2> first{}, second{};
    const bool made = ::pipe2(first.data(), O_CLOEXEC) == 0;
    if (made) ready.reset(first[0]), report.reset(first[1]);
    if (!made || ::pipe2(second.data(), O_CLOEXEC) != 0)
      throw Error{Error::system, fmt::format("cannot start a process: {}", reason(errno))};
    is_told.reset(second[0]), go_on.reset(second[1]);
  }

  /// Called in the background process: reports that it is ready, and waits until it is told to go on.
  bool at_work() {
    const char byte = '1';
    (void)!::write(report.number(), &byte, 1);
    report.reset();
    const bool told = gets_byte(is_told);
    is_told.reset();
    return told;
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
  kept.push_back(pipes.report.number());
  kept.push_back(pipes.is_told.number());
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
    pipes.ready.reset();
    pipes.go_on.reset();
    go_on(work, pipes, std::move(kept));
  });
  if (process < 0) throw Error{Error::system, fmt::format("cannot start a process: {}", reason(errno))};
  pipes.report.reset();
  pipes.is_told.reset();
  if (!ReadyPipes::gets_byte(pipes.ready)) throw Error{Error::system, "the process that keeps it has ended"};
  then();
  const char byte = '1';
  (void)!::write(pipes.go_on.number(), &byte, 1);
}

bool is_our_stdout(int fd) {
  struct stat out, other;
  if (::fstat(STDOUT_FILENO, &out) != 0 || ::fstat(fd, &other) != 0) return false;
  const bool is_stream = S_ISFIFO(out.st_mode) || S_ISSOCK(out.st_mode);
  return is_stream && out.st_dev == other.st_dev && out.st_ino == other.st_ino;
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
