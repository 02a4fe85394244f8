#include "cmd/hold/wait/once_watch.h"

#include <fmt/format.h>

#include <utility>

#include "base/key_text.h"
#include "base/text.h"

namespace rlock {

void OnceWatch::note_waiting(const Waiting& waiting) {
  if (waiting.busy == nullptr || done_) return;
  if (asked_) {
    ask_again_ = true;
  } else {
    ask();
  }
}

/// Reads the answer that has come. If "busy" came after the question, asks again.
void OnceWatch::advance() {
  if (!asked_ || !asked_.settled()) return;
  for (const Vote& vote : asked_.votes()) {
    if (const Reply* reply = vote.good_reply()) done_ = OncePer::read_status(*reply);
  }
  asked_.drop();
  if (std::exchange(ask_again_, false) && !done_) ask();
}

void OnceWatch::ask_and_wait() {
  ask_again_ = false;
  asked_.drop();
  if (!done_) ask();
  redis_.loop().wait(redis_.loop().within(answer_within_), [this] {
    advance();
    return done() || !asked_;
  });
}

std::string OnceWatch::text() const {
  return fmt::format("{} was done {} ago by {}, so the command does not run; again after {}", quoted(name_),
                     describe(done_->since), sanitized(done_->facts), describe(done_->rest));
}

void OnceWatch::ask() {
  asked_ = redis_.post(OncePer::status(name_), {}, plus(redis_.loop().now(), answer_within_));
}

}  // namespace rlock
