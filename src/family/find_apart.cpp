#include "family/find_apart.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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

void SearchApart::go_on(TimePoint until) {
  while (next_ < candidates_.size() && !has_passed(until)) {
    if (!asker_) {
      asker_.emplace(unanswered(), is_one_);
      replace_at_ = within(kReplaced).until;
    }
    const bool apart = asker_->started();
    const char here = !apart && is_one_(candidates_[next_]) ? 'y' : 'n';
    const std::string_view answers = apart ? asker_->next(until) : std::string_view{&here, 1};
    for (const char answer : answers) {
      if (answer == 'y') found_.push_back(candidates_[next_]);
      ++next_;
    }
    if (!answers.empty()) replace_at_ = within(kReplaced).until;
    const bool ended = asker_->ended();
    if (!apart || ended || has_passed(replace_at_)) asker_.reset();
    if (ended) return;
  }
}

void SearchApart::skip(bool ask_again) {
  if (ask_again) candidates_.push_back(candidates_[next_]);
  ++next_;
  asker_.reset();
}

FoundApart find_apart(std::vector<pid_t> candidates, const IsOne& is_one, const SearchLimit& limit) {
  SearchApart search{std::move(candidates), is_one};
  std::vector<pid_t> silent;
  for (std::size_t open = search.unanswered().size(); open > 0 && !has_passed(limit.until);) {
    search.go_on(earliest(limit.until, within(limit.one_answer).until));
    const std::size_t before = std::exchange(open, search.unanswered().size());
    if (open < before) continue;
    silent.push_back(search.unanswered().front());
    if (std::cmp_equal(silent.size(), limit.silences)) break;
    search.skip(std::ranges::count(silent, silent.back()) == 1);
    open = search.unanswered().size();
  }
  return {search.found(), std::move(silent)};
}

}  // namespace rlock
