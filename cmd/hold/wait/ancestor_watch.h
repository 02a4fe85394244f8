#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "cmd/hold/request/inherited_hold.h"
#include "loop/loop.h"
#include "loop/source.h"
#include "redis/redis.h"
#include "sync/wait/acquire.h"
#include "sync/watch/inquiry.h"

namespace rlock {

/// If the wait cannot succeed, we still wait this long: the holder may be about to release the key.
constexpr Milliseconds kGivesUpAfter{1000};

/// If a key is busy, finds out whether its holder is a process above us, which waits for us. Such a holder may be a
/// script that holds by --while-pid, or a run whose RLOCK_STACK did not reach us. The holder's record names its host
/// and process.
///
/// An owner id of rlock names the process that holds. If that process is not above us, the watch sends no question.
///
/// A wait for permits never ends if processes above us hold so many that the rest of the pool is too small.
class AncestorWatch final : public Source {
 public:
  struct Options {
    std::string_view type{};   ///< the type of the lock, to join a hold
    bool joins = false;        ///< we may join that hold; otherwise we give up after a second
    bool asks_always = false;  ///< also ask if the server does not say who holds the key
    std::int64_t permits = 1;  ///< of a pool: how many we want
    Milliseconds answer_within{0};
  };
  AncestorWatch(Redis& redis, const Options& options);

  /// For AcquireOptions::report.
  void note_waiting(const Waiting& waiting);

  /// Extends the options, so that the watch hears of the wait and can end it.
  AcquireOptions over(AcquireOptions options);

  /// Has a process above us a hold that we may join?
  bool found() const noexcept { return found_.has_value(); }

  /// Returns the hold that was found. The watch finds each hold once.
  InheritedHold take();

  /// A hold of this key could not be joined: if the wait is for an ancestor, it must end.
  void cannot_join(const LockName& key);

  /// Asks about the holder, and waits for the answer. Call it after a wait, or if there is no wait.
  void look_at(const Busy& busy);

  /// The wait must end: it cannot succeed, we may not join the hold, and a second has passed.
  bool ends_the_wait() const noexcept { return ends_the_wait_; }

  /// Why the wait must end, for a person. Empty: it need not end.
  std::string reason() const { return ends_the_wait_ ? text_ : ""; }

  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  void ask(const Busy& busy);
  bool may_be_above(const Owner& owner) const;
  void conclude(TimePoint now);

  Redis& redis_;
  const Options options_;
  Inquiry inquiry_;
  LockName name_;
  Owner holder_;
  std::set<std::pair<LockName, Owner>> asked_;  ///< the keys and holders that we have asked about
  std::set<LockName> not_joined_;               ///< see cannot_join()
  TimePoint begun_ = kNever;                    ///< when the wait began
  std::optional<InheritedHold> found_;
  std::string text_;
  TimePoint give_up_at_ = kNever;
  bool ends_the_wait_ = false;
  Membership membership_{redis_.loop(), *this};
};

}  // namespace rlock
