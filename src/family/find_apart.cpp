#include "family/find_apart.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "base/blocking.h"
#include "base/descriptor.h"
#include "process/fork.h"

namespace rlock {
namespace {

/// If an answer takes longer, the candidate goes to the end of the list and is asked about once more. Perhaps
/// the asking process only waited for a processor.
constexpr Milliseconds kOneAnswer{500};

/// A process that asks about one candidate after the other, and writes a byte for each into a pipe.
class Asker {
 public:
  Asker(std::span<const pid_t> candidates, const std::function<bool(pid_t)>& is_one) {
    Pipe pipe;
    if (!pipe) return;
    answers_ = std::move(pipe.reading);
    const pid_t parent = ::getpid();
    process_ = fork_for([&] {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) return;
      for (const pid_t candidate : candidates) {
        const char answer = is_one(candidate) ? 'y' : 'n';
        if (::write(pipe.writing.number(), &answer, 1) != 1) return;
      }
    });
  }
  ~Asker() {
    if (!started()) return;
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {}
  }
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  bool started() const noexcept { return process_ > 0; }

  /// Reads the next answers. Empty if the next one takes too long, or if there are no more.
  std::string_view next(TimePoint until) {
    const TimePoint last = earliest(until, within(kOneAnswer).until);
    while (!has_passed(last) && wait_until_ready(answers_.number(), POLLIN, last)) {
      const ssize_t got = ::read(answers_.number(), buffer_.data(), buffer_.size());
      if (got >= 0) return {buffer_.data(), static_cast<std::size_t>(got)};
    }
    return {};
  }

 private:
  pid_t process_ = -1;
  Descriptor answers_;
  std::array<char, 1024> buffer_{};
};

}  // namespace

std::vector<pid_t> find_apart(std::vector<pid_t> candidates, const std::function<bool(pid_t)>& is_one,
                              TimePoint until) {
  std::vector<pid_t> found;
  const std::size_t given = candidates.size();
  std::size_t next = 0;
  while (next < candidates.size() && !has_passed(until)) {
    Asker asker{std::span{candidates}.subspan(next), is_one};
    if (!asker.started()) {  // no process can be started
      if (is_one(candidates[next])) found.push_back(candidates[next]);
      ++next;
      continue;
    }
    for (std::string_view answers = asker.next(until); !answers.empty(); answers = asker.next(until)) {
      for (const char answer : answers) {
        if (answer == 'y') found.push_back(candidates[next]);
        ++next;
      }
    }
    if (next >= candidates.size()) break;
    if (next < given) candidates.push_back(candidates[next]);
    ++next;
  }
  return found;
}

}  // namespace rlock
