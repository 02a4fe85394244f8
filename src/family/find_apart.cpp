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
#include "process/close_range.h"
#include "process/fork.h"
#include "process/processes.h"

namespace rlock {
namespace {

/// After so long without an answer, SearchApart starts another helper.
constexpr Milliseconds kReplaced{2000};

}  // namespace

Asker::Asker(std::span<const pid_t> candidates, const IsOne& is_one) {
  Pipe pipe;
  if (!pipe) return;
  answers_ = std::move(pipe.reading);
  const pid_t parent = ::getpid();
  process_ = fork_for([&] {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) return;
    close_all_but(
        {pipe.writing
             .number()});  // a guardian waits for the end of a pipe; and a descriptor is free to read /proc
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
  while (!has_passed(until) && wait_until_ready(answers_.number(), POLLIN, until)) {
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
    const auto answer_until = [&] { return earliest(limit.until, within(limit.one_answer).until); };
    for (std::string_view answers = asker.next(answer_until()); !answers.empty();
         answers = asker.next(answer_until())) {
      for (const char answer : answers) {
        if (answer == 'y') apart.found.push_back(candidates[next]);
        ++next;
      }
    }
    if (next >= candidates.size()) break;
    ++silences;
    apart.silent.push_back(candidates[next]);
    if (next < given) candidates.push_back(candidates[next]);
    ++next;
  }
  return apart;
}

void SearchApart::go_on(TimePoint until) {
  while (next_ < candidates_.size() && !has_passed(until)) {
    if (!asker_) {
      asker_.emplace(unanswered(), is_one_);
      replace_at_ = within(kReplaced).until;
    }
    const std::string_view answers = asker_->started() ? asker_->next(until) : "";
    for (const char answer : answers) {
      if (answer == 'y') found_.push_back(candidates_[next_]);
      ++next_;
    }
    if (!answers.empty()) {
      replace_at_ = within(kReplaced).until;
    } else if (!asker_->started() || asker_->ended() || has_passed(replace_at_)) {
      asker_.reset();
      return;
    }
  }
}

}  // namespace rlock
