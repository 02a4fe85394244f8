#include "sync/acquire.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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
  std::size_t answered = 0;  ///< deployments that said anything
};

/// Reads votes as the lock understands them.
Round count(const Waitable& lock, const Votes& votes, std::size_t quorum) {
  Round round;
  std::vector<Held> granted;
  for (std::size_t node = 0; node < votes.size(); ++node) {
    const Vote& vote = votes[node];
    if (vote.answer() == nullptr) {
      if (vote.attempts > 0) round.ambiguous = true;
      round.failure = vote.reply ? failure_of(*vote.reply)
                                 : vote.failure.value_or(Failure{Error::unreachable, "no answer"});
      continue;
    }
    ++round.answered;
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
bool decided(const Waitable& lock, const Votes& votes, std::size_t quorum) {
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

/// A part as the wait sees it: it need not have an owner.
struct Item {
  const Waitable* lock;
  std::vector<Call> escort;
  std::vector<Call> erasure;
};

/// What is asked in one go: one part, or all of them together.
struct Question {
  const Waitable* what;
  std::size_t first, end;  ///< the parts that it is about
  Call call;
};

std::vector<Question> questions_about(const std::vector<Item>& parts, const Together* together) {
  std::vector<Question> questions;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if (together == nullptr || part == 0) {
      const Waitable* what = together != nullptr ? together : parts[part].lock;
      questions.push_back({what, part, part, what->ask()});
    }
    Question& question = questions.back();
    ++question.end;
    question.call.escort.insert(question.call.escort.end(), parts[part].escort.begin(),
                                parts[part].escort.end());
  }
  return questions;
}

/// One wait, from the first question to having it or having given it back.
class Wait {
 public:
  Wait(Redis& redis, std::vector<Item> parts, const AcquireOptions& options)
      : redis_(redis),
        parts_(std::move(parts)),
        options_(options),
        one_try_(options.patience.until <= Clock::now()),
        questions_(questions_about(parts_, options.together)),
        blocked_(&questions_.front()) {}

  Acquired run() {
    for (;;) {
      if (auto outcome = attempt()) return *std::move(outcome);
      if (one_try_ || options_.patience.ended()) return give_up();
      sleep();
      if (options_.patience.interrupted()) return give_up();
    }
  }

 private:
  /// Asks for everything, in order. Nothing: somebody else has some of it.
  std::optional<Acquired> attempt() {
    Taken taken{.asked = kNever, .held = {}, .voted = {}};
    for (const Question& question : questions_) {
      last_ = ask(question);
      failure_ = last_.failure;
      if (last_.busy) busy_ = last_.busy;
      if (last_.refused) return refuse(question);
      if (!last_.held || !replicated()) {
        blocked_ = &question;
        give_back(question, last_.ambiguous && redis_.nodes() > 1,
                  redis_.nodes() > 1 ? Redis::Insist::once : Redis::Insist::persist);
        if (failed_for_good()) return give_up();
        return std::nullopt;
      }
      taken.asked = earliest(taken.asked, last_.asked);
      taken.voted = last_.voted;
      std::ranges::copy(held_by(), std::back_inserter(taken.held));
    }
    return taken;
  }

  std::vector<Held> held_by() const {
    if (options_.together == nullptr) return {*last_.held};
    return options_.together->held(*votes_[last_.voted.front()].answer());
  }

  Round ask(const Question& question) {
    const bool persists = redis_.nodes() == 1 && !one_try_;
    const auto insist = persists ? Redis::Insist::persist : Redis::Insist::once;
    votes_ = redis_.run(question.call, patience_of_a_round(), insist,
                        [&](const Votes& votes) { return decided(*question.what, votes, redis_.quorum()); });
    return count(*question.what, votes_, redis_.quorum());
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

  /// Gives back the parts before this question, and those that it is about when its answer left that open. Between two
  /// rounds nobody is waited for who does not answer: the next round, or the last word, will tell him.
  void give_back(const Question& question, bool open, Redis::Insist insist) {
    Patience goodbye = within(kGoodbye);
    goodbye.interrupted = options_.hurried;
    for (std::size_t part = 0; part < (open ? question.end : question.first); ++part) {
      auto call = parts_[part].lock->give_back();
      if (!call) continue;
      redis_.farewell(*call);
      call->escort = parts_[part].erasure;
      redis_.run(*call, goodbye, insist);
    }
  }

  Acquired refuse(const Question& question) {
    give_back(question, redis_.nodes() > 1 || question.what->queues(), Redis::Insist::persist);
    return GaveUp{.why = GaveUp::Why::refused, .refused = last_.refused, .failure = {}, .busy = {}};
  }

  Acquired give_up() {
    if (blocked_->what->queues() || last_.ambiguous) give_back(*blocked_, true, Redis::Insist::persist);
    GaveUp::Why why = GaveUp::Why::unreachable;
    if (busy_) why = GaveUp::Why::busy;
    if (failure_ && failure_->kind != Error::unreachable)
      why = GaveUp::Why::unreachable;  // denied beats busy
    if (options_.patience.interrupted()) why = GaveUp::Why::interrupted;
    if (failure_ && failure_->kind == Error::unreachable && redis_.nodes() > 1 &&
        last_.answered < redis_.quorum()) {
      failure_->text = fmt::format("no quorum: {} of {} servers answer, {} are needed ({})", last_.answered,
                                   redis_.nodes(), redis_.quorum(), failure_->text);
    }
    return GaveUp{.why = why, .refused = {}, .failure = failure_, .busy = busy_};
  }

  /// Until there is a reason to ask again.
  void sleep() {
    const Waitable& lock = *blocked_->what;
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

  TimePoint asks_again_at(const Waitable& lock) {
    const TimePoint now = Clock::now();
    const bool announced = !lock.channels().empty() && !redis_.deaf();
    Milliseconds nap = lock.poll_every() + jitter(lock.poll_every() / kPollJitterPart);
    if (!announced) nap = pause(lock);
    if (!last_.busy) nap = std::min(nap, kSplitPause + jitter(kSplitPause));
    if (last_.busy && last_.busy->retry_after) nap = std::min(nap, *last_.busy->retry_after + kPastTtl);
    return later(now, nap);
  }

  /// MIN, doubling to MAX, each with jitter; equal ends are a constant pause.
  Milliseconds pause(const Waitable& lock) {
    const auto [least, most] = lock.pause();
    pause_ = pause_ == Milliseconds{0} ? least : std::min(pause_ * 2, most);
    return least == most ? pause_ : pause_ / 2 + jitter(pause_);
  }

  void tell() const {
    options_.tell({.busy = last_.busy ? &*last_.busy : nullptr,
                   .failure = failure_ ? &*failure_ : nullptr,
                   .part = blocked_->first,
                   .what = blocked_->what});
  }

  Redis& redis_;
  const std::vector<Item> parts_;
  const AcquireOptions& options_;
  const bool one_try_;
  Votes votes_;
  Round last_;
  std::optional<Busy> busy_;        ///< the last "busy" that anybody said
  std::optional<Failure> failure_;  ///< of the last round
  const std::vector<Question> questions_;
  const Question* blocked_;            ///< what could not be had
  const Question* watched_ = nullptr;  ///< whose channels we listen to
  std::optional<WakeUps> wakeups_;
  Milliseconds pause_{0};
};

}  // namespace

Acquired acquire(Redis& redis, std::span<const Part> parts, const AcquireOptions& options) {
  std::vector<Item> items;
  for (const Part& part : parts) items.push_back({part.lock, part.escort, part.erasure});
  return Wait{redis, std::move(items), options}.run();
}

Acquired acquire(Redis& redis, const Waitable& wanted, const AcquireOptions& options) {
  return Wait{redis, {{&wanted, {}, {}}}, options}.run();
}

}  // namespace rlock
