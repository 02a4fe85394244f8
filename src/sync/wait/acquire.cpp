// A wait consists of rounds with pauses between them. A Round asks for every stage. If we hold all stages,
// the wait is over. Otherwise Acquisition::run() undoes what the round was granted, sleeps until there is a
// reason to ask again, and starts the next round. The order of these steps keeps the promises:
//
//   undo before sleep        A sleeping waiter that kept a granted key would block all others for a lease.
//   undo, then new identity  A late copy of an old call must not touch what the next round acquires. So after an
//                            undo, the next round asks with other request ids, and over several nodes as
//                            another owner. If nothing was undone, the same calls are sent again.
//                            Over one node, the owner stays, and keeps its place, if no copy can be in flight:
//                            the node has answered the undo, and each call was written once. Else it changes, too.
//                            An owner that the user named always stays. Then the next round leaves out the nodes
//                            that have not answered the undo (Undo::closed_nodes()).
//   listen before sleep      A waiter that began to listen later would miss a release (Sleep).
//   undo before giving up    The caller may end the process, so give_up() first gives the servers a moment to
//                            answer. Then another process goes on with the undo, if the caller can start one
//                            (AcquireOptions::behind).
//
// If the wait ends during a round, that round had too little time, and its failure says little. Then
// note_round() keeps the reason of an earlier round, which is a failure or "busy" (cut_short()).

#include "sync/wait/acquire.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "sync/wait/outage.h"
#include "sync/wait/round.h"
#include "sync/wait/sleep.h"
#include "sync/wait/stage.h"
#include "sync/wait/undo.h"

namespace rlock {
namespace {

/// At the end of a wait, we await the undo this long; then another process goes on with it. We wait longer if the
/// server has answered, because the caller then asks the server for the holder, on the same connections.
constexpr Milliseconds kAfterFailure{100};
constexpr Milliseconds kAfterAnswer{300};

std::vector<Stage> stages_for(const AcquireRequest& request) {
  std::vector<PartOf<Waitable>> parts;
  for (const Part& part : request.parts) parts.push_back({part.lock, part.followers, part.release_followers});
  return stages_of(std::move(parts), request.together);
}

/// `renewed`: the same stage with another identity, so it has an owner, too, if `stage` has one.
bool have_same_owner(const Stage& stage, const Stage& renewed) {
  const Owner* const owner = stage.what().asker();
  return owner != nullptr && *owner == *renewed.what().asker();
}

template <class Value>
std::optional<Value> optional_of(const Value* one) {
  return one != nullptr ? std::optional{*one} : std::nullopt;
}

/// One wait: from the first call until everything is acquired, or its undo is on its way.
class Acquisition {
 public:
  Acquisition(Redis& redis, std::vector<Stage> stages, const AcquireOptions& options, WaitFor wait_for)
      : redis_(redis),
        options_(options),
        several_nodes_(redis.nodes() > 1),
        stages_(std::move(stages)),
        round_(redis, options),
        outage_(options),
        undo_(redis, options.insisted),
        sleep_(redis, options, wait_for) {}

  /// Runs rounds until the wait ends.
  AcquireResult run() {
    round_.connect();
    for (;;) {
      const TimePoint begun = now();
      sleep_.begin_round();
      round_.end_by(outage_.limit_of(begun));  // when an outage that has begun by now would end the wait
      if (auto acquired = round_.run(stages_, undo_, sleep_.facts())) {
        // Undo calls of earlier rounds continue in the background: they name an earlier identity. The release at the
        // end of the hold cleans up the nodes that did not answer this round.
        undo_.detach();
        // A node is almost silent while we hold its lock, so to listen on costs less than to stop. Of several nodes,
        // some may not have voted for us, and announce what others do there.
        if (!several_nodes_) acquired->mailbox = sleep_.mailbox();
        return *std::move(acquired);
      }
      note_round(begun);
      if (last_round()) return give_up();
      undo_round();
      // blocked() is fetched only here: undo_round() may have put a new stage in the place of the old one.
      Sleep::News news = sleep_.after({blocked().what(), result(), round_.took(), busy_, outage_});
      busy_ = std::move(news.busy);
      outage_ = news.outage;
      // A call now would get no answer, and hide the reason of the last failure.
      if (options_.patience.ended(now()) || (failure_ && now() >= outage_.limit())) return give_up();
    }
  }

 private:
  TimePoint now() const { return redis_.loop().now(); }
  const BallotResult& result() const { return round_.result(); }
  const Stage& blocked() const { return stages_[round_.blocked_at()]; }

  /// Has some node given this answer in the last round?
  bool any_answered(Answer answer) const { return std::ranges::count(result().answers, answer) > 0; }

  // --- what the last round tells ------------------------------------------------------------------

  void note_round(TimePoint begun) {
    if (const Busy* const busy = result().busy()) {
      busy_ = *busy;
      if (busy_->key.empty()) busy_->key = blocked().what().name();
      outage_.end();
    }
    if (result().failure() != nullptr) outage_.begin(begun);
    // One node that says "busy" is enough here. busy_ needs so many that no quorum can grant it now.
    seen_busy_ = seen_busy_ || any_answered(Answer::busy);
    const bool has_reason = failure_ || busy_;
    if (has_reason && cut_short()) return;
    failure_ = optional_of(result().failure());
  }

  bool unreachable() const {
    return result().failure() != nullptr && result().failure()->kind == Error::unreachable;
  }
  bool denied() const {
    return result().failure() != nullptr && result().failure()->kind != Error::unreachable;
  }

  /// Did the wait, or the outage, end while servers could still answer, before they had the time of a full round?
  /// Then the failure of an earlier round says more. With trouble() the failure is real, and no lack of time.
  bool cut_short() const {
    // If the time was over before the call of a later stage, no node was asked.
    const bool may_answer_yet = unreachable() && (result().may_be_granted || !round_.has_asked());
    const bool is_over = options_.patience.ended(now()) && !redis_.trouble();
    // Of several nodes, one may have had the outage, while another one only had too little time. The outage of a single
    // node is the reason itself.
    const bool outage_is_over = several_nodes_ && now() >= outage_.limit();
    return may_answer_yet && (is_over || outage_is_over) && round_.took() < options_.round_timeout;
  }

  bool last_round() const {
    const bool no_contact = unreachable() && !redis_.keeps_trying();
    const bool too_long = unreachable() && now() >= outage_.limit();
    const bool retry_cannot_help = result().refused() != nullptr || denied() || no_contact || too_long;
    return retry_cannot_help || round_.is_single() || options_.patience.ended(now());
  }

  // --- undo ------------------------------------------------------------------------------------

  /// Undoes this round. Then the next one gets another identity, so that copies of the old calls cannot harm it.
  /// A wait without `renew_identity` keeps its identity. It awaits the undo, and drops the calls that are not answered
  /// by then: a call that is written later would undo the next round.
  void undo_round() {
    if (!undo_stages()) return;
    // If there are several nodes, we do not wait for silent ones. The next round has a new owner or, if the user named
    // the owner, leaves out the nodes that have not answered the undo (Undo::closed_nodes()).
    if (!several_nodes_ || !options_.renew_identity) undo_.await(until_the_end(Undo::kAwait));
    if (!options_.renew_identity) return undo_.drop();
    const bool certain = !several_nodes_ && undo_.certain();
    // If a copy of a call may be in flight, we need a new owner, too. Then the old one must not keep its place.
    if (!certain && blocked().has_place) undo_.post(stages_[round_.blocked_at()], wake());
    renew_identity(certain ? NewIdentity::requests : NewIdentity::owner);
  }

  /// Undoes every stage that needs it. Returns false if none did.
  bool undo_stages() {
    bool any = false;
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
      if (!needs_undo(stage)) continue;
      undo_.post(stages_[stage], wake());
      any = true;
    }
    return any;
  }

  /// Must this stage be undone before we sleep? The stages before the blocked one were granted. A later stage has a
  /// place if an earlier round came further. The blocked stage keeps its place, unless a node granted it.
  bool needs_undo(std::size_t stage) const {
    if (stage < round_.blocked_at()) return true;
    if (stage > round_.blocked_at()) return stages_[stage].has_place;
    // The call may be granted late. With one node, or with a place, the next round asks as the same owner, and gets
    // that grant.
    const bool grant_would_be_lost = several_nodes_ && result().may_be_granted && !blocked().has_place;
    return any_answered(Answer::granted) || grant_would_be_lost;
  }

  /// With several nodes we ask again soon, so the undo does not wake other waiters.
  Wake wake() const { return several_nodes_ ? Wake::nobody : Wake::waiters; }

  void renew_identity(NewIdentity what) {
    std::vector<Stage> renewed = stages_for(options_.renew_identity(what));
    if (renewed.size() != stages_.size()) throw Error{Error::internal, "a renewed request has other parts"};
    // An owner that the user named stays. A part that joins an outer hold always keeps the owner of that hold. So if
    // one part has a new owner, the user named none.
    const bool owner_stays = std::ranges::equal(stages_, renewed, have_same_owner);
    undo_.renew_identity(owner_stays ? NewIdentity::requests : NewIdentity::owner);
    // A place that was not given up stays, and must be given up at the end.
    for (std::size_t i = 0; i < renewed.size(); ++i) renewed[i].has_place = stages_[i].has_place;
    stages_ = std::move(renewed);
  }

  // --- the end ------------------------------------------------------------------------------------

  AcquireResult give_up() {
    // If this is false, no stage is granted, and no call may be granted late: only places may be left.
    const bool may_be_granted =
        round_.blocked_at() > 0 || result().may_be_granted || undo_.has_copies_in_flight();
    // If undo_round() has just renewed the identity, no node has seen it. Then Undo::post() sends nothing to several
    // nodes. A single node may still have a place of ours.
    for (std::size_t i = 0; i < stages_.size(); ++i)
      if (stages_[i].has_place || (may_be_granted && i <= round_.blocked_at()))
        undo_.post(stages_[i], Wake::waiters);
    finish_undo();

    auto refused = optional_of(result().refused());
    if (refused && refused->key.empty()) refused->key = blocked().what().name();
    return GaveUp{.why = why(),
                  .refused = std::move(refused),
                  .failure = failure_,
                  .busy = busy_,
                  .answers = result().answers,
                  .seen_busy = seen_busy_};
  }

  GaveUp::Why why() const {
    if (result().refused() != nullptr) return GaveUp::Why::refused;
    if (options_.patience.interrupted()) return GaveUp::Why::interrupted;
    return busy_ && !failure_ ? GaveUp::Why::busy : GaveUp::Why::unreachable;
  }

  /// Waits a moment for the answers to the undo. If `behind` can start another process, that process goes on
  /// with the undo.
  void finish_undo() {
    // After a refusal the caller may ask for something else next, on these connections.
    const bool stays_here = !options_.behind || result().refused() != nullptr;
    const Milliseconds moment = result().failure() != nullptr ? kAfterFailure : kAfterAnswer;
    undo_.await(redis_.loop().within(stays_here ? Undo::kAwait : moment));
    if (stays_here || undo_.settled()) return;
    sleep_.mailbox()->listen_to({});  // a client that listens counts as one that waits
    const auto work = [this] {
      redis_.loop().take_own_timer();
      undo_.await(redis_.loop().within(Undo::kTryFor));
    };
    if (options_.behind(work)) {
      redis_.give_away();
    } else {
      undo_.await(redis_.loop().within(Undo::kAwait - moment));
    }
  }

  /// The patience for a step of the wait: at most `most`, and not beyond the end of the wait.
  Patience until_the_end(Milliseconds most) const {
    return {.until = earliest(plus(now(), most), options_.patience.until),
            .interrupted = options_.patience.interrupted};
  }

  Redis& redis_;
  const AcquireOptions& options_;
  const bool several_nodes_;

  std::vector<Stage> stages_;
  Round round_;                     ///< the current or last round
  std::optional<Busy> busy_;        ///< the last "busy" of this wait
  std::optional<Failure> failure_;  ///< the failure of the last round that was not cut short
  bool seen_busy_ = false;          ///< a node answered "busy" in some round of this wait
  Outage outage_;
  Undo undo_;
  Sleep sleep_;
};

}  // namespace

AcquireResult acquire(Redis& redis, const AcquireRequest& request, const AcquireOptions& options) {
  return Acquisition{redis, stages_for(request), options, WaitFor::lock}.run();
}

AcquireResult acquire(Redis& redis, const Waitable& wanted, const AcquireOptions& options,
                      const std::vector<Call>& followers) {
  const std::shared_ptr<const Waitable> borrowed{std::shared_ptr<const Waitable>{}, &wanted};  // owns nothing
  return Acquisition{redis, stages_of({{.lock = borrowed, .followers = followers}}, std::nullopt), options,
                     WaitFor::no_lock}
      .run();
}

Milliseconds node_timeout(Milliseconds lease, Milliseconds command_timeout) {
  constexpr int kPartOfLease = 20;
  constexpr Milliseconds kLeast{100};  // a round trip around the world
  return std::min(command_timeout, std::max(lease / kPartOfLease, kLeast));
}

}  // namespace rlock
