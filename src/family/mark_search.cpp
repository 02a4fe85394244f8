#include "family/mark_search.h"

#include <utility>

#include "base/blocking.h"

namespace rlock {
namespace {

constexpr Milliseconds kOneTurn{100};

/// How long the search waits for one answer before it asks the next process.
constexpr Milliseconds kOneAnswer{500};

}  // namespace

void MarkSearch::go_on(const Origin& command) {
  const TimePoint until = within(kOneTurn).until;
  if (!unasked_.begun()) doubtful_ = false;
  found_.clear();
  for (; found_.empty(); asked_.reset()) {
    if (!asked_) {
      std::vector<pid_t> next = unasked_.next();
      if (next.empty()) break;
      asked_.emplace(std::move(next), [this](pid_t pid) { return marks_.on_living(pid); }, kOneAnswer);
    }
    asked_->go_on(until);
    found_ = asked_->found();
    unanswered_.assign(asked_->unanswered().begin(), asked_->unanswered().end());
    const std::size_t open = unanswered_.size();
    if (asked_->asked_all()) std::erase_if(unanswered_, [&](pid_t pid) { return is_stranger(pid, command); });
    doubtful_ = doubtful_ || unanswered_.size() < open;
    if (found_.empty() && !unanswered_.empty()) return;
  }
  asked_.reset();
  unanswered_.clear();
  unasked_.begin_again();
}

}  // namespace rlock
