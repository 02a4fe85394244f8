#include "sync/acquire.h"

#include <algorithm>

#include "base/random.h"
#include "sync/pacing.h"
#include "sync/round.h"
#include "sync/stage.h"
#include "sync/undo.h"
#include "sync/wakeups.h"

namespace rlock {
namespace {

std::vector<Item> items_of(const std::vector<Part>& parts) {
  std::vector<Item> items;
  for (const Part& part : parts) items.push_back({part.lock, part.followers, part.release_followers});
  return items;
}

/// One wait, from the first call to having it or having undone it.
class Wait {
 public:
  Wait(Redis& redis, std::vector<Stage> stages, const AcquireOptions& options)
      : redis_(redis),
        options_(options),
        several_(redis.nodes() > 1),
        one_try_(options.patience.until <= Clock::now()),
        stages_(std::move(stages)),
        round_(redis, options, one_try_),
        undo_(redis, options.hurried),
        pacing_(jitter) {}

  Acquired run() {
    for (;;) {
      if (auto taken = round_.attempt(stages_, undo_)) {
        undo_.let_finish();
        return *std::move(taken);
      }
      if (result().busy) remember(*result().busy);
      if (result().refused || failed_for_good() || one_try_ || options_.patience.ended()) return give_up();
      undo_round();
      sleep();
      if (options_.patience.ended()) return give_up();  // a call now would get no answer
    }
  }

 private:
  const BallotResult& result() const { return round_.result(); }
  const Stage& blocked() const { return stages_[round_.blocked()]; }

  void remember(Busy busy) {
    if (busy.member.empty()) busy.member = blocked().what().name().str();
    busy_ = std::move(busy);
  }

  /// A failure that no further try can mend: denied, or no server where nobody asked us to wait for one.
  bool failed_for_good() const {
    return result().failure && (result().failure->kind != Error::unreachable || !redis_.keeps_trying());
  }

  // --- undo ------------------------------------------------------------------------------------

  /// Undoes what this round was granted, and leaves the queues of stages that we do not wait for.
  void undo_round() {
    const bool granted = std::ranges::count(result().answers, Answer::granted) > 0;
    const bool undoes_blocked = granted || (several_ && result().may_be_granted && !blocked().queued);
    // Of several nodes most did not grant it: waiters have nothing to wake up for.
    const Wake wake = several_ ? Wake::nobody : Wake::waiters;
    bool any = false;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (i < round_.blocked() || (i == round_.blocked() ? undoes_blocked : stages_[i].queued)) {
        undo_.post(stages_[i], wake);
        any = true;
      }
    }
    if (!any) return;
    if (!several_ || !options_.renew_identity) undo_.await();  // with a quorum, never wait for a silent node
    if (!options_.renew_identity) return undo_.drop();
    const bool certain = !several_ && undo_.certain();
    if (!certain && blocked().queued) undo_.post(stages_[round_.blocked()], wake);
    const Wish wish = options_.renew_identity(certain ? NewIdentity::requests : NewIdentity::owner);
    undo_.renew_identity();
    stages_ = stages_of(items_of(wish.parts), wish.together);
  }

  Acquired give_up() {
    const bool asked_in_vain =
        round_.blocked() == 0 && !result().may_be_granted && !undo_.has_copies_in_flight();
    for (std::size_t i = 0; i < stages_.size(); ++i)
      if (stages_[i].queued || (!asked_in_vain && i <= round_.blocked())) undo_.post(stages_[i], Wake::waiters);
    undo_.await();

    GaveUp gave_up{.why = GaveUp::Why::unreachable,
                   .refused = result().refused,
                   .part = blocked().first,
                   .failure = result().failure,
                   .busy = busy_,
                   .answers = result().answers};
    const bool denied = result().failure && result().failure->kind != Error::unreachable;  // beats busy
    if (busy_ && !denied) gave_up.why = GaveUp::Why::busy;
    if (options_.patience.interrupted()) gave_up.why = GaveUp::Why::interrupted;
    if (result().refused) gave_up.why = GaveUp::Why::refused;
    return gave_up;
  }

  // --- sleep -----------------------------------------------------------------------------------

  /// Until there is a reason to ask again.
  void sleep() {
    const Waitable& what = blocked().what();
    if (!wakeups_ || wakeups_->channels() != what.channels()) wakeups_.emplace(redis_, what.channels());
    tell();
    const bool announced = !what.channels().empty() && !redis_.subscribe_error();
    const Pacing::Sleep sleep = pacing_.after({.several = several_,
                                               .split = result().split,
                                               .failed = result().failure.has_value(),
                                               .busy = result().busy ? &*result().busy : nullptr,
                                               .took = round_.took(),
                                               .announced = announced,
                                               .poll_every = what.poll_every(),
                                               .pause = what.pause()},
                                              Clock::now());
    const auto never = [] { return false; };
    idle(sleep.ignore_wakeups_until, never);
    if (idle(sleep.until, [&] { return wakeups_->take() && sleep.heeds_wakeups; })) {
      idle(earliest(sleep.until, pacing_.ask_after_wakeup()), never);
      pacing_.count_wakeup(Clock::now());
    }
    idle(later(Clock::now(), sleep.then), never);
  }

  /// True: `woken` was.
  template <class Fact>
  bool idle(TimePoint until, Fact&& woken) {
    until = earliest(until, options_.patience.until);
    while (Clock::now() < until && !options_.patience.interrupted()) {
      if (woken()) return true;
      redis_.loop().turn(until);
    }
    return false;
  }

  void tell() const {
    options_.tell({.busy = result().busy ? &*result().busy : nullptr,
                   .failure = result().failure ? &*result().failure : nullptr,
                   .part = blocked().first,
                   .what = &blocked().what()});
  }

  Redis& redis_;
  const AcquireOptions& options_;
  const bool several_;  ///< nodes
  const bool one_try_;

  std::vector<Stage> stages_;
  Round round_;               ///< the last one
  std::optional<Busy> busy_;  ///< the last "busy" of this wait
  Undo undo_;
  Pacing pacing_;
  std::optional<WakeUps> wakeups_;
};

}  // namespace

Acquired acquire(Redis& redis, Wish wish, const AcquireOptions& options) {
  return Wait{redis, stages_of(items_of(wish.parts), wish.together), options}.run();
}

Acquired acquire(Redis& redis, const Waitable& wanted, const AcquireOptions& options) {
  const std::shared_ptr<const Waitable> borrowed{std::shared_ptr<const Waitable>{}, &wanted};
  return Wait{redis, stages_of({{.lock = borrowed}}, std::nullopt), options}.run();
}

Milliseconds node_timeout(Milliseconds lease, Milliseconds command_timeout) {
  constexpr int kShare = 20;
  constexpr Milliseconds kLeast{100};  // a way around the world and back
  return std::min(command_timeout, std::max(lease / kShare, kLeast));
}

}  // namespace rlock
