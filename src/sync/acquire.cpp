#include "sync/acquire.h"

#include <algorithm>

#include "base/random.h"
#include "sync/replicas.h"
#include "sync/wakeups.h"

namespace rlock {
namespace {

/// Of the sleep between two polls, so that who began to wait together does not poll together.
constexpr int kPollJitterPart = 10;

/// A TTL counts whole milliseconds; asking in the one in which it ends would ask too early.
constexpr Milliseconds kPastTtl{2};

/// Between two rounds over several deployments that split their votes. Random, or contenders would split them again.
constexpr Milliseconds kSplitPause{50};

/// What one round of asking came to.
struct Round {
  std::optional<Held> held;
  std::optional<Refused> refused;
  std::optional<Busy> busy;
  std::optional<Failure> failure;
  bool ambiguous = false;  ///< somebody may have granted what we do not hold
  TimePoint asked = kNever;
  std::vector<std::size_t> voted;
};

/// Reads votes as the lock understands them.
Round count(const Lockable& lock, const Votes& votes, std::size_t quorum) {
  Round round;
  std::vector<Held> granted;
  for (std::size_t node = 0; node < votes.size(); ++node) {
    const Vote& vote = votes[node];
    if (vote.answer() == nullptr) {
      round.ambiguous = true;
      round.failure = vote.reply ? failure_of(*vote.reply)
                                 : vote.failure.value_or(Failure{Error::unreachable, "no answer"});
      continue;
    }
    const Attempt attempt = lock.read(*vote.reply);
    if (const auto* held = std::get_if<Held>(&attempt)) {
      granted.push_back(*held);
      round.voted.push_back(node);
      round.asked = earliest(round.asked, vote.asked);
    } else if (const auto* busy = std::get_if<Busy>(&attempt)) {
      round.busy = *busy;
    } else {
      round.refused = std::get<Refused>(attempt);
    }
  }
  if (granted.size() >= quorum) {
    round.held = granted.front();
  } else if (!granted.empty()) {
    round.ambiguous = true;
  }
  return round;
}

/// Worth waiting for more votes? Not once enough have granted it, nor once enough cannot.
bool decided(const Lockable& lock, const Votes& votes, std::size_t quorum) {
  std::size_t granted = 0;
  std::size_t open = 0;
  for (const Vote& vote : votes) {
    if (!vote.settled()) {
      ++open;
    } else if (vote.answer() != nullptr && std::holds_alternative<Held>(lock.read(*vote.reply))) {
      ++granted;
    }
  }
  return granted >= quorum || granted + open < quorum;
}

/// One wait, from the first question to having it or having given it back.
class Wait {
 public:
  Wait(Redis& redis, std::span<const Part> parts, const AcquireOptions& options)
      : redis_(redis), parts_(parts), options_(options), one_try_(options.patience.until <= Clock::now()) {}

  Acquired run() {
    for (;;) {
      if (auto outcome = attempt()) return *std::move(outcome);
      if (one_try_ || options_.patience.ended()) return give_up();
      sleep();
      if (options_.patience.interrupted()) return give_up();
    }
  }

 private:
  /// Asks for every part, in order. Nothing: somebody else has one of them.
  std::optional<Acquired> attempt() {
    Taken taken{.asked = kNever, .held = {}, .voted = {}};
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      last_ = ask(part);
      failure_ = last_.failure;
      if (last_.busy) busy_ = last_.busy;
      if (last_.refused) return refuse(part);
      if (!last_.held || !replicated()) {
        give_back(part, last_.ambiguous && redis_.nodes() > 1);
        blocked_ = part;
        if (failed_for_good()) return give_up();
        return std::nullopt;
      }
      taken.asked = earliest(taken.asked, last_.asked);
      taken.held.push_back(*last_.held);
      taken.voted = last_.voted;
    }
    return taken;
  }

  Round ask(std::size_t part) {
    const Lockable& lock = *parts_[part].lock;
    Call call = lock.ask();
    call.escort = parts_[part].escort;
    const Patience patience = patience_of_a_round();
    const bool persists = redis_.nodes() == 1 && !one_try_;
    const auto insist = persists ? Redis::Insist::persist : Redis::Insist::once;
    votes_ = redis_.run(call, patience, insist,
                        [&](const Votes& votes) { return decided(lock, votes, redis_.quorum()); });
    return count(lock, votes_, redis_.quorum());
  }

  Patience patience_of_a_round() const {
    Patience patience = within(redis_.nodes() > 1 ? options_.node_timeout : options_.one_try);
    if (!one_try_) patience.until = earliest(patience.until, options_.patience.until);
    patience.interrupted = options_.patience.interrupted;
    return patience;
  }

  bool replicated() {
    if (options_.sync_replicas == 0) return true;
    const auto missing =
        await_replicas(redis_, votes_, last_.voted, options_.sync_replicas, options_.sync_timeout);
    if (!missing) return true;
    last_.ambiguous = true;
    failure_ = missing;
    return false;
  }

  /// A failure that no further try can mend: denied, or no server where nobody asked us to wait for one.
  bool failed_for_good() const {
    if (!failure_ || last_.busy) return false;
    return failure_->kind != Error::unreachable || !redis_.keeps_trying();
  }

  /// Gives back the parts before `end`, and the part at `end` when its answer left that open.
  void give_back(std::size_t end, bool including_end) {
    const Patience goodbye = within(kGoodbye);
    for (std::size_t part = 0; part < parts_.size() && part <= end; ++part) {
      if (part == end && !including_end) continue;
      const auto call = parts_[part].lock->give_back();
      if (!call) continue;
      redis_.farewell(*call);
      redis_.run(*call, goodbye);
    }
  }

  Acquired refuse(std::size_t part) {
    give_back(part, redis_.nodes() > 1 || parts_[part].lock->queues());
    return GaveUp{.why = GaveUp::Why::refused, .refused = last_.refused, .failure = {}, .busy = {}};
  }

  Acquired give_up() {
    if (parts_[blocked_].lock->queues() || last_.ambiguous) give_back(blocked_, true);
    GaveUp::Why why = GaveUp::Why::unreachable;
    if (busy_) why = GaveUp::Why::busy;
    if (failure_ && failure_->kind != Error::unreachable)
      why = GaveUp::Why::unreachable;  // denied beats busy
    if (options_.patience.interrupted()) why = GaveUp::Why::interrupted;
    return GaveUp{.why = why, .refused = {}, .failure = failure_, .busy = busy_};
  }

  /// Until there is a reason to ask again.
  void sleep() {
    const Lockable& lock = *parts_[blocked_].lock;
    if (!wakeups_ || watched_ != blocked_) {
      wakeups_.emplace(redis_, lock.channels());
      watched_ = blocked_;
    }
    const TimePoint until = earliest(options_.patience.until, asks_again_at(lock));
    tell();
    while (Clock::now() < until && !wakeups_->take() && !options_.patience.interrupted()) {
      redis_.loop().turn(earliest(until, options_.tell_at()));
      if (Clock::now() >= options_.tell_at()) tell();
    }
  }

  TimePoint asks_again_at(const Lockable& lock) {
    const TimePoint now = Clock::now();
    const bool announced = !lock.channels().empty() && !redis_.deaf();
    Milliseconds nap = lock.poll_every() + jitter(lock.poll_every() / kPollJitterPart);
    if (!announced) nap = pause(lock);
    if (!last_.busy) nap = std::min(nap, kSplitPause + jitter(kSplitPause));
    if (last_.busy && last_.busy->retry_after) nap = std::min(nap, *last_.busy->retry_after + kPastTtl);
    return later(now, nap);
  }

  /// MIN, doubling to MAX, each with jitter; equal ends are a constant pause.
  Milliseconds pause(const Lockable& lock) {
    const auto [least, most] = lock.pause();
    pause_ = pause_ == Milliseconds{0} ? least : std::min(pause_ * 2, most);
    return least == most ? pause_ : pause_ / 2 + jitter(pause_);
  }

  void tell() const {
    options_.tell({.busy = last_.busy ? &*last_.busy : nullptr,
                   .failure = failure_ ? &*failure_ : nullptr,
                   .part = blocked_});
  }

  Redis& redis_;
  const std::span<const Part> parts_;
  const AcquireOptions& options_;
  const bool one_try_;
  Votes votes_;
  Round last_;
  std::optional<Busy> busy_;        ///< the last "busy" that anybody said
  std::optional<Failure> failure_;  ///< of the last round
  std::size_t blocked_ = 0;         ///< the part that could not be had
  std::size_t watched_ = 0;
  std::optional<WakeUps> wakeups_;
  Milliseconds pause_{0};
};

}  // namespace

Acquired acquire(Redis& redis, std::span<const Part> parts, const AcquireOptions& options) {
  return Wait{redis, parts, options}.run();
}

}  // namespace rlock
