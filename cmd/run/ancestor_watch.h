#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "cmd/run/inherited_hold.h"
#include "cmd/run/lock_types.h"
#include "loop/loop.h"
#include "loop/source.h"
#include "redis/redis.h"
#include "sync/wait/acquire.h"
#include "sync/watch/inquiry.h"

namespace rlock {

/// Finds out, when a key is busy, whether a process above us holds it that waits for us: a script that holds by
/// --while-pid, or a run whose RLOCK_STACK does not reach us. The holder's record names its host and process.
///
/// An owner of rlock's names its process, so that a wait for another process costs no question.
class AncestorWatch final : public Source {
 public:
  /// `joins`: that hold may be joined; else we give up after a second, since the wait would never end.
  AncestorWatch(Redis& redis, const LockType& type, bool joins, Milliseconds answer_within);
  ~AncestorWatch() override;

  /// For AcquireOptions: what the waiter sees now.
  void hear(const Waiting& waiting);

  /// A process above us holds it, and that hold may be joined.
  bool found() const noexcept { return found_.has_value(); }

  /// The hold that was found; each is found once.
  InheritedHold take();

  /// The wait is over, or there was none: looks at who was the holder, and waits for the answer.
  void look_at(const LockName& name, const std::string& holder);

  /// The wait would never end: we have waited for a second, and cannot join.
  bool ends_the_wait() const noexcept { return ends_the_wait_; }

  /// Why, for a person. REQUIRES: ends_the_wait()
  const std::string& text() const noexcept { return text_; }

  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  void ask(const LockName& name, const std::string& holder);
  bool may_be_above(const Owner& owner) const;
  void conclude(TimePoint now);

  Redis& redis_;
  const LockType& type_;
  const bool joins_;
  const Milliseconds answer_within_;
  Inquiry inquiry_;
  LockName name_;
  Owner holder_;
  std::set<std::pair<LockName, Owner>> asked_;  ///< about these we know
  TimePoint begun_ = kNever;                    ///< the wait
  std::optional<InheritedHold> found_;
  std::string text_;
  TimePoint give_up_at_ = kNever;
  bool ends_the_wait_ = false;
};

}  // namespace rlock
