// A wait is rounds with pauses between them. A Round asks for every stage. When it holds them all, the wait is over;
// otherwise Wait::run() undoes what the round was granted, sleeps until there is a reason to ask again, and begins
// the next round. The order of these steps is what keeps the promises:
//
//   undo, then sleep    what a sleeping waiter was granted would keep everybody out, for the length of a lease
//   undo, then a new    the next round has another owner, or other request ids, so that a copy of an old call which
//   identity            is carried out late takes nothing that the new round has. A single server that has answered
//                       the undo of calls that were written once lets the owner keep its place in the queue. An
//                       owner that the user named always stays: Undo::closed_nodes() are left out instead
//   listen, then sleep  a confirmed subscription ends the sleep as a message does: a release between our question
//                       and the confirmation was announced to nobody
//   undo, then give up  the caller may end the process, so give_up() first gives the servers a moment to answer;
//                       what they do not answer goes on behind the wait, where another process can see to it
//
// When the wait ends during a round, the failure of that round says little, because the server had too little time:
// cut_short() then leaves what an earlier round was told as the reason.

#include "sync/wait/acquire.h"

#include <algorithm>

#include "base/random.h"
#include "redis/mailbox.h"
#include "sync/kinds/line.h"
#include "sync/wait/pacing.h"
#include "sync/wait/round.h"
#include "sync/wait/stage.h"
#include "sync/wait/undo.h"

namespace rlock {
namespace {

/// How long the end of a wait waits for the answer of an undo, of a server that has just failed, and of one
/// that has answered: that one is asked who has the lock afterwards.
constexpr Milliseconds kAtOnce{100};
constexpr Milliseconds kSoon{300};

std::vector<Item> items_of(const std::vector<Part>& parts) {
  std::vector<Item> items;
  for (const Part& part : parts) items.push_back({part.lock, part.followers, part.release_followers});
  return items;
}

/// One wait, from the first call to having it or having undone it.
class Wait {
 public:
  Wait(Redis& redis, std::vector<Stage> stages, const AcquireOptions& options, bool can_be_held)
      : redis_(redis),
        can_be_held_(can_be_held),
        options_(options),
        several_nodes_(redis.nodes() > 1),
        single_attempt_(options.patience.until <= redis.loop().now()),
        stages_(std::move(stages)),
        round_(redis, options, single_attempt_),
        undo_(redis, options.hurried),
        pacing_(jitter),
        mailbox_(redis) {}

  /// One turn of the loop for each round. What ends it is checked in the order in which one reason hides others.
  Acquired run() {
    for (;;) {
      const TimePoint begun = now();
      losses_ = redis_.losses();
      round_.end_by(outage_ends(begun));
      if (auto taken = round_.attempt(stages_, undo_, sends_facts_)) {
        // Undo calls of earlier rounds continue in the background. The release cleans up the nodes that did
        // not answer this round.
        undo_.detach();
        if (!several_nodes_) mailbox_.let_stand();
        return *std::move(taken);
      }
      if (result().busy) remember(*result().busy);
      heard_busy_ = heard_busy_ || std::ranges::count(result().answers, Answer::busy) > 0;
      note_outage(begun);
      if (!cut_short() || (!failure_ && !busy_)) failure_ = result().failure;
      if (result().refused || retry_cannot_help() || single_attempt_ || options_.patience.ended(now()))
        return give_up();
      undo_round();
      sleep();
      if (options_.patience.ended(now())) return give_up();  // a call now would get no answer
    }
  }

 private:
  TimePoint now() const { return redis_.loop().now(); }
  const BallotResult& result() const { return round_.result(); }
  const Stage& blocked() const { return stages_[round_.blocked()]; }

  void remember(Busy busy) {
    if (busy.member.empty()) busy.member = blocked().what().name().str();
    busy_ = std::move(busy);
  }

  /// The end of the wait left the server too little time to answer this round: the failure of an earlier
  /// round says more.
  bool cut_short() const {
    return result().failure && result().failure->kind == Error::unreachable && result().may_be_granted &&
           !redis_.trouble() && options_.patience.ended(now()) && round_.took() < options_.attempt_timeout;
  }

  /// A retry cannot help: access was denied, nobody has ever said a word, or the outage lasts too long.
  bool retry_cannot_help() const {
    return result().failure && (result().failure->kind != Error::unreachable || !redis_.keeps_trying() ||
                                now() >= outage_ends(kNever));
  }

  /// A round without an answer that is of use begins an outage, or goes on with it.
  void note_outage(TimePoint begun) {
    if (result().failure) {
      if (!outage_since_) outage_since_ = begun;
    } else if (result().busy) {
      contact_ = true;
      outage_since_.reset();
    }
  }

  /// When this outage, or one that begins at `otherwise`, ends the wait.
  TimePoint outage_ends(TimePoint otherwise) const {
    return plus(outage_since_.value_or(otherwise), contact_ ? options_.outage : options_.first_contact);
  }

  // --- undo ------------------------------------------------------------------------------------

  /// Undoes what this round was granted, and gives up our place in the queue of every stage but the blocked
  /// one.
  void undo_round() {
    const bool granted = std::ranges::count(result().answers, Answer::granted) > 0;
    const bool undoes_blocked = granted || (several_nodes_ && result().may_be_granted && !blocked().queued);
    // With several nodes we ask again soon: the other waiters are not woken.
    const Wake wake = several_nodes_ ? Wake::nobody : Wake::waiters;
    bool any = false;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (i < round_.blocked() || (i == round_.blocked() ? undoes_blocked : stages_[i].queued)) {
        undo_.post(stages_[i], wake);
        any = true;
      }
    }
    if (!any) return;
    // With several nodes we never wait for a silent one: the next round has a new owner, or leaves out the
    // nodes that have not answered the undo (Undo::closed_nodes()).
    if (!several_nodes_ || !options_.renew_identity) undo_.await(until_the_end(Undo::kAwait));
    if (!options_.renew_identity) return undo_.drop();
    const bool certain = !several_nodes_ && undo_.certain();
    // The owner changes unless the user named it, so it leaves the queue that it is in.
    if (!certain && blocked().queued) undo_.post(stages_[round_.blocked()], wake);
    const Wish wish = options_.renew_identity(certain ? NewIdentity::requests : NewIdentity::owner);
    const Owner* const before = blocked().what().asker();
    undo_.renew_identity(before != nullptr && *before == wish.parts.front().lock->owner());
    stages_ = stages_of(items_of(wish.parts), wish.together);
  }

  Acquired give_up() {
    // The first stage was clearly not granted, and no copy of a call is in flight.
    const bool nothing_to_undo =
        round_.blocked() == 0 && !result().may_be_granted && !undo_.has_copies_in_flight();
    for (std::size_t i = 0; i < stages_.size(); ++i)
      if (stages_[i].queued || (!nothing_to_undo && i <= round_.blocked()))
        undo_.post(stages_[i], Wake::waiters);
    finish_undo();

    GaveUp gave_up{.why = GaveUp::Why::unreachable,
                   .refused = result().refused,
                   .part = blocked().first,
                   .failure = failure_,
                   .busy = busy_,
                   .answers = result().answers,
                   .heard_busy = heard_busy_};
    const bool denied = result().failure && result().failure->kind != Error::unreachable;  // beats busy
    if (busy_ && !failure_ && !denied) gave_up.why = GaveUp::Why::busy;
    if (options_.patience.interrupted()) gave_up.why = GaveUp::Why::interrupted;
    if (result().refused) gave_up.why = GaveUp::Why::refused;
    return gave_up;
  }

  /// A wait that has ended waits no longer for a server that may never answer: where another process can see
  /// to what was not answered at once, it does.
  void finish_undo() {
    const bool lasts = !options_.behind || result().refused;  // the caller may ask for something else next
    const Milliseconds at_once = result().failure ? kAtOnce : kSoon;
    undo_.await(redis_.loop().within(lasts ? Undo::kAwait : at_once));
    if (lasts || undo_.answered()) return;
    const auto work = [this] {
      redis_.loop().take_own_timer();
      undo_.await(redis_.loop().within(Undo::kTryFor));
    };
    if (options_.behind(work)) {
      redis_.give_away();
    } else {
      undo_.await(redis_.loop().within(Undo::kAwait - at_once));
    }
  }

  /// For something that belongs to the wait itself.
  Patience until_the_end(Milliseconds most) const {
    return {.until = earliest(plus(now(), most), options_.patience.until),
            .interrupted = options_.patience.interrupted};
  }

  // --- sleep -----------------------------------------------------------------------------------

  /// Sleeps until there is a reason to ask again.
  void sleep() {
    while (sleep_once()) {}  // once more for each place that we move up
  }

  /// Returns whether we have moved up in the line and have to sleep on, with the pace of the new place.
  bool sleep_once() {
    const Waitable& what = blocked().what();
    const Busy* const busy = result().busy ? &*busy_ : nullptr;
    const Line* const line = busy != nullptr ? what.line(*busy) : nullptr;
    mailbox_.listen_to(line != nullptr ? line->channels(*busy) : what.channels());
    tell(busy);
    const bool announced = !what.channels().empty() && !redis_.subscribe_error();
    const Pacing::Sleep plan =
        pacing_.after({.several_nodes = several_nodes_,
                       .split = result().split,
                       .failed = result().failure.has_value(),
                       .busy = busy,
                       .took = round_.took(),
                       .announced = announced,
                       .poll_every = line != nullptr ? Line::kSleepsAtMost : what.poll_every(),
                       .pause = what.pause()},
                      now());
    sleep_until(plan.ignore_wakeups_until);
    if (!plan.wakeups_end_it) sleep_until(plan.until);
    if (plan.wakeups_end_it && sleep_until_told(plan.until, busy, line)) return true;
    sleep_until(plus(now(), plan.extra));
    return false;
  }

  /// Sleeps until `until`, or until messages say that asking is worth it. Returns whether they say instead
  /// that we have moved up.
  bool sleep_until_told(TimePoint until, const Busy* busy, const Line* line) {
    TimePoint ask_at = earliest(until, options_.patience.until);
    for (bool worth_asking = false;;) {
      const TimePoint time = now();
      bool moved = false;
      for (const Message& message : mailbox_.take()) {
        const Line::Heard heard =
            busy != nullptr ? blocked().what().hear(message, *busy_) : Line::Heard::reason();
        moved = moved || heard.place;
        if (heard.place) Line::move_up(*busy_, heard, time);
        if (!heard.ask_after) continue;
        const TimePoint wanted = std::max(plus(time, *heard.ask_after), pacing_.ask_after_wakeup());
        ask_at = heard.not_before ? earliest(wanted, options_.patience.until) : earliest(ask_at, wanted);
        worth_asking = true;
      }
      if (moved && !worth_asking) return true;
      // If the connection was lost, we would miss messages: ask whether the server is still there.
      if (time >= ask_at || options_.patience.interrupted() || redis_.losses() != losses_) {
        if (worth_asking) pacing_.count_wakeup(time);
        sends_facts_ = worth_asking || redis_.losses() != losses_ ||
                       (line == nullptr ? can_be_held_ : *busy_->position <= Line::kListening);
        return false;
      }
      redis_.loop().turn(ask_at);
    }
  }

  void sleep_until(TimePoint until) {
    until = earliest(until, options_.patience.until);
    redis_.loop().wait({until, options_.patience.interrupted}, [] { return false; });
  }

  void tell(const Busy* busy) const {
    options_.tell({.busy = busy,
                   .failure = result().failure ? &*result().failure : nullptr,
                   .part = blocked().first,
                   .what = &blocked().what()});
  }

  Redis& redis_;
  const bool can_be_held_;  ///< the call that gets it also says who has it
  const AcquireOptions& options_;
  const bool several_nodes_;
  const bool single_attempt_;

  std::vector<Stage> stages_;
  Round round_;                            ///< the last one
  std::optional<Busy> busy_;               ///< the last "busy" of this wait
  std::optional<Failure> failure_;         ///< of the last round that was not cut short
  bool heard_busy_ = false;                ///< from any node, in any round
  bool contact_ = false;                   ///< there was an answer that is of use: busy
  std::optional<TimePoint> outage_since_;  ///< nothing: the last round had such an answer
  std::uint64_t losses_ = 0;               ///< of connections, before the last round
  Undo undo_;
  Pacing pacing_;
  Mailbox mailbox_;
  bool sends_facts_ = true;  ///< false: the server knows them, and the next call only keeps our place
};

}  // namespace

Acquired acquire(Redis& redis, const Wish& wish, const AcquireOptions& options) {
  return Wait{redis, stages_of(items_of(wish.parts), wish.together), options, true}.run();
}

Acquired acquire(Redis& redis, const Waitable& wanted, const AcquireOptions& options,
                 const std::vector<Call>& followers) {
  const std::shared_ptr<const Waitable> borrowed{std::shared_ptr<const Waitable>{}, &wanted};
  return Wait{redis, stages_of({{.lock = borrowed, .followers = followers}}, std::nullopt), options, false}
      .run();
}

Milliseconds node_timeout(Milliseconds lease, Milliseconds command_timeout) {
  constexpr int kPartOfLease = 20;
  constexpr Milliseconds kLeast{100};  // a round trip around the world
  return std::min(command_timeout, std::max(lease / kPartOfLease, kLeast));
}

}  // namespace rlock
