#include "family/search_apart.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/blocking.h"
#include "process/close_range.h"
#include "process/fork.h"
#include "process/processes.h"

namespace rlock {
namespace {

/// A helper that does not begin within this time is replaced.
constexpr Milliseconds kBegins{500};

}  // namespace

Asker::Asker(std::span<const pid_t> candidates, const std::function<bool(pid_t)>& is_one) {
  Pipe pipe;
  if (!pipe) return;
  answers_ = std::move(pipe.reading);
  const pid_t parent = ::getpid();
  process_ = fork_for([&] {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) return;
    // A guardian waits for the end of a pipe. And now descriptors are free to read /proc.
    close_all_but({pipe.writing.number()});
    const auto say = [&](char byte) { return ::write(pipe.writing.number(), &byte, 1) == 1; };
    if (!say('.')) return;
    for (const pid_t candidate : candidates) {
      const int unread = unread_files();
      const char answer = is_one(candidate) ? 'y' : 'n';
      if (unread_files() != unread || !say(answer)) return;
    }
  });
  ended_ = process_ <= 0;
}

Asker::~Asker() {
  if (process_ <= 0 || ::waitpid(process_, nullptr, WNOHANG) != 0) return;
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {}
}

std::string_view Asker::next(TimePoint until) {
  while (!ended_ && !has_passed(until) && wait_until_ready(answers_.number(), POLLIN, until)) {
    const ssize_t got = ::read(answers_.number(), buffer_.data(), buffer_.size());
    ended_ = got == 0;
    if (got > 0) return {buffer_.data(), static_cast<std::size_t>(got)};
  }
  return {};
}

void SearchApart::go_on(TimePoint until) {
  while (next_ < to_ask_.size() && !has_passed(until)) {
    if (!asker_) {
      asker_.emplace(unanswered(), is_one_);
      silent_at_ = within(kBegins).until;
    }
    std::string_view answers = asker_->next(earliest(until, silent_at_));
    char here = 'n';
    const bool helpless = answers.empty() && asker_->ended();
    if (helpless) {
      if (is_one_(to_ask_[next_])) here = 'y';
      answers = {&here, 1};
    }
    for (const char answer : answers) {
      if (answer == 'y') found_.push_back(to_ask_[next_]);
      if (answer != '.') ++next_;
    }
    if (!answers.empty()) silent_at_ = within(one_answer_).until;
    const bool silent = answers.empty() && has_passed(silent_at_);
    if (silent) to_ask_.push_back(to_ask_[next_++]);
    if (silent || helpless) asker_.reset();
  }
}

}  // namespace rlock
