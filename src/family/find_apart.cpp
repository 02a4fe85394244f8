#include "family/find_apart.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <span>
#include <utility>

#include "base/blocking.h"
#include "base/descriptor.h"
#include "process/fork.h"
#include "process/processes.h"

namespace rlock {
namespace {

/// If an answer takes longer, the candidate goes to the end of the list and is asked about once more. Perhaps
/// the asking process only waited for a processor.
constexpr Milliseconds kOneAnswer{500};

}  // namespace

Asker::Asker(std::span<const pid_t> candidates, const IsOne& is_one) {
  Pipe pipe;
  if (!pipe) return;
  answers_ = std::move(pipe.reading);
  const pid_t parent = ::getpid();
  process_ = fork_for([&] {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) return;
    for (const pid_t candidate : candidates) {
      const int unread = unread_files();
      const char answer = is_one(candidate) ? 'y' : 'n';
      if (unread_files() != unread) return;
      if (::write(pipe.writing.number(), &answer, 1) != 1) return;
    }
  });
}

Asker::~Asker() {
  if (!started() || ::waitpid(process_, nullptr, WNOHANG) != 0) return;
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {}
}

std::string_view Asker::next(TimePoint until) {
  const TimePoint last = earliest(until, within(kOneAnswer).until);
  while (!has_passed(last) && wait_until_ready(answers_.number(), POLLIN, last)) {
    const ssize_t got = ::read(answers_.number(), buffer_.data(), buffer_.size());
    ended_ = got == 0;
    if (got >= 0) return {buffer_.data(), static_cast<std::size_t>(got)};
  }
  return {};
}

FoundApart find_apart(std::vector<pid_t> candidates, const IsOne& is_one, const SearchLimit& limit) {
  FoundApart apart;
  const std::size_t given = candidates.size();
  std::size_t next = 0;
  int silences = 0;
  while (next < candidates.size() && silences < limit.silences && !has_passed(limit.until)) {
    Asker asker{std::span{candidates}.subspan(next), is_one};
    if (!asker.started()) {  // no process can be started
      if (is_one(candidates[next])) apart.found.push_back(candidates[next]);
      ++next;
      continue;
    }
    for (std::string_view answers = asker.next(limit.until); !answers.empty();
         answers = asker.next(limit.until)) {
      for (const char answer : answers) {
        if (answer == 'y') apart.found.push_back(candidates[next]);
        ++next;
      }
    }
    if (next >= candidates.size()) break;
    ++silences;
    (next < given ? candidates : apart.unanswered).push_back(candidates[next]);
    ++next;
  }
  apart.unanswered.insert(apart.unanswered.end(), candidates.begin() + static_cast<std::ptrdiff_t>(next),
                          candidates.end());
  return apart;
}

std::vector<pid_t> SearchApart::go_on(TimePoint until) {
  std::vector<pid_t> found;
  while (next_ < candidates_.size() && !has_passed(until)) {
    if (!asker_) asker_.emplace(unanswered(), is_one_);
    const char here = asker_->started() || !is_one_(candidates_[next_]) ? 'n' : 'y';
    const std::string_view answers = asker_->started() ? asker_->next(until) : std::string_view{&here, 1};
    for (const char answer : answers) {
      if (answer == 'y') found.push_back(candidates_[next_]);
      ++next_;
    }
    if (asker_->ended()) {
      asker_.reset();
      break;  // the next call starts another one
    }
  }
  return found;
}

}  // namespace rlock
