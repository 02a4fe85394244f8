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

/// For giving back what a failed wait may have taken: a wait
/// of 2 s is over within 3 s, whatever the network does.
constexpr Milliseconds kGiveBack{700};

/// How long we go on telling a server that does not answer what it has to undo, while we do something else.
constexpr Milliseconds kUndo{30000};

/// Between two rounds over several deployments that split their votes or were too few: random, or contenders
/// would split them again; doubling, for there may be many of them.
constexpr Milliseconds kLeastSplitPause{10};
constexpr Milliseconds kMostSplitPause{500};

/// After a round in which the server failed.
constexpr Milliseconds kFailurePause{50};

/// How many times the first such pause we pass by announcements, too: they tell that others have split.
constexpr int kLongestBlindPauses = 8;

/// After an announcement by one of several deployments: the
/// others will make theirs, and everybody has heard it.
constexpr Milliseconds kHerdPause{10};

/// A part as the wait sees it: it need not have an owner.
struct Item {
  const Waitable* lock;
  std::vector<Call> followers{};
  std::vector<Call> release_followers{};
};

std::vector<Item> items_of(std::span<const Part> parts) {
  std::vector<Item> items;
  for (const Part& part : parts) items.push_back({part.lock, part.followers, part.release_followers});
  return items;
}

/// What is asked in one go: one part, or all of them together.
struct Question {
  const Waitable* what;
  std::size_t first, end;  ///< the parts that it is about
  Call call;
  bool queued = false;          ///< asked, and it may have got us a place in a queue
  std::vector<bool> reached{};  ///< deployments that have it, and nothing that undoes it
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
    question.call.followers.insert(question.call.followers.end(), parts[part].followers.begin(),
                                   parts[part].followers.end());
  }
  return questions;
}

/// One wait, from the first question to having it or having given it back.
class Wait {
 public:
  Wait(Redis& redis, std::vector<Item> parts, const AcquireOptions& options)
      : redis_(redis),
        options_(options),
        several_(redis.nodes() > 1),
        one_try_(options.patience.until <= Clock::now()),
        heard_(redis.nodes(), false) {
    begin_with(std::move(parts), options.together);
  }

  Acquired run() {
    for (;;) {
      if (auto taken = attempt()) return finish(*std::move(taken));
      if (round_.refused || failed_for_good() || one_try_ || options_.patience.ended()) return give_up();
      step_back();
      sleep();
      if (options_.patience.ended())
        return give_up();  // with what was heard last: a question now would get no answer
    }
  }

 private:
  void begin_with(std::vector<Item> parts, const Together* together) {
    parts_ = std::move(parts);
    together_ = together;
    questions_ = questions_about(parts_, together);
    for (Question& question : questions_) {
      question.call.in_full = several_;  // see Call::in_full: a quorum waits for nobody
      question.reached.assign(redis_.nodes(), false);
    }
    blocked_ = 0;
    repeated_ = false;
  }

  const Question& blocked() const { return questions_[blocked_]; }

  // --- asking ----------------------------------------------------------------------------------

  /// Asks for everything, in order. Nothing: some of it cannot be had now, as round_ says.
  std::optional<Taken> attempt() {
    Taken taken{.asked = kNever, .held = {}, .said = {}};
    for (blocked_ = 0; blocked_ < questions_.size(); ++blocked_) {
      ask(questions_[blocked_]);
      if (!round_.held || !replicated()) return std::nullopt;
      taken.asked = earliest(taken.asked, round_.asked);
      std::ranges::copy(held_by(), std::back_inserter(taken.held));
      if (taken.said.empty()) taken.said = round_.said;
      for (std::size_t node = 0; node < round_.said.size(); ++node)
        if (round_.said[node] != Said::granted) taken.said[node] = round_.said[node];
    }
    --blocked_;
    const Milliseconds took = left(Clock::now(), taken.asked);
    if (took < options_.good_for) return taken;
    came_to_nothing({Error::unreachable, fmt::format("granted too late, after {}", describe(took))});
    return std::nullopt;
  }

  void ask(Question& question) {
    const TimePoint begun = Clock::now();
    const bool persists = !several_ && !one_try_;
    Decision decision{*question.what, redis_};
    votes_ = redis_.run(question.call, patience_of_a_round(),
                        persists ? Redis::Insist::persist : Redis::Insist::once,
                        [&](const Votes& votes) { return decision.enough_from(votes); });
    round_ = count(*question.what, redis_, votes_);
    round_took_ = left(Clock::now(), begun);
    if (const auto twins = several_ ? redis_.twins() : std::nullopt) {
      came_to_nothing(*twins);
      round_.busy.reset();
    }
    if (round_.busy) {
      round_.busy->heard = Clock::now();
      busy_ = round_.busy;
      if (busy_->member.empty()) busy_->member = question.what->name().str();
    }
    question.queued = question.what->queues();
    for (std::size_t node = 0; node < votes_.size(); ++node) {
      const Vote& vote = votes_[node];
      heard_[node] = heard_[node] || vote.attempts > 0;
      question.reached[node] = question.reached[node] || vote.attempts > 0;
      repeated_ = repeated_ || vote.attempts > (vote.answer() != nullptr ? 1 : 0);
    }
  }

  Patience patience_of_a_round() const {
    Patience patience = within(several_ ? options_.node_timeout : options_.one_try);
    if (!one_try_) patience.until = earliest(patience.until, options_.patience.until);
    patience.interrupted = options_.patience.interrupted;
    return patience;
  }

  Patience patience_of_replicas() const {
    Patience patience = within(options_.sync_timeout + options_.one_try);
    if (!one_try_) patience.until = earliest(patience.until, options_.patience.until);
    patience.interrupted = options_.patience.interrupted;
    return patience;
  }

  std::vector<Held> held_by() const {
    if (together_ == nullptr) return {*round_.held};
    return round_.held->members;
  }

  bool replicated() {
    if (options_.sync_replicas == 0) return true;
    const auto missing = await_replicas(redis_, votes_, round_.said, options_.sync_replicas,
                                        options_.sync_timeout, patience_of_replicas());
    if (missing) came_to_nothing(*missing);
    return !missing;
  }

  /// It was granted, but is of no use.
  void came_to_nothing(Failure why) {
    round_.held.reset();
    round_.may_be_granted = true;
    round_.failure = std::move(why);
  }

  /// A failure that no further try can mend: denied, or no server where nobody asked us to wait for one.
  bool failed_for_good() const {
    return round_.failure && (round_.failure->kind != Error::unreachable || !redis_.keeps_trying());
  }

  // --- giving back -----------------------------------------------------------------------------

  /// Undoes what this round has taken, and leaves the queues of
  /// what we are not waiting for: nothing is held while we wait.
  void step_back() {
    const bool granted = std::ranges::count(round_.said, Said::granted) > 0;
    const bool undoes_blocked = granted || (several_ && round_.may_be_granted && !blocked().queued);
    bool any = false;
    for (std::size_t i = 0; i < questions_.size(); ++i) {
      if (i < blocked_ || (i == blocked_ ? undoes_blocked : questions_[i].queued)) {
        undo(questions_[i], several_);
        any = true;
      }
    }
    if (!any) return;
    // With a quorum, never wait for a silent node.
    const bool sure = (!several_ || !options_.renew_identity) && undone_for_sure();
    if (!options_.renew_identity) return drop_debts();
    if (!sure && questions_[blocked_].queued) undo(questions_[blocked_], several_);
    drop_settled_debts();
    const std::size_t at = blocked_;
    const Wish wish = options_.renew_identity(sure ? NewIdentity::requests : NewIdentity::owner);
    begin_with(items_of(wish.parts), wish.together);
    blocked_ = at;
  }

  void undo(Question& question, bool silently) {
    question.queued = false;
    if (silently && question.what == together_) {
      std::vector<Call> release_followers;
      for (const Item& part : parts_)
        std::ranges::copy(part.release_followers, std::back_inserter(release_followers));
      owe(together_->undo(), release_followers, question);
    } else {
      for (std::size_t part = question.first; part < question.end; ++part) {
        const Waitable& lock = *parts_[part].lock;
        owe(silently ? lock.undo() : lock.give_back(), parts_[part].release_followers, question);
      }
    }
    question.reached.assign(redis_.nodes(), false);
  }

  void owe(std::optional<Call> call, const std::vector<Call>& release_followers, const Question& question) {
    if (!call) return;
    call->in_full = true;  // who did not answer the question may not let us hear a NOSCRIPT either
    call->followers = release_followers;
    if (several_) call->only_at = question.reached;
    // Only behind a copy of the question: elsewhere it could
    // come late and undo the next try of the same owner.
    if (repeated_) redis_.send_on_abandoned(*call);
    debts_.push_back(redis_.post(*call, later(Clock::now(), kUndo), Redis::Insist::persist));
  }

  /// Waits until all has been undone. False: a copy of something may still be on its way.
  bool undone_for_sure() {
    await_debts();
    const auto once = [](const Vote& vote) { return vote.answer() != nullptr && vote.attempts == 1; };
    const bool sure = !repeated_ && std::ranges::all_of(debts_, [&](auto request) {
      return std::ranges::all_of(redis_.votes(request), once);
    });
    if (sure) drop_debts();
    return sure;
  }

  /// A while; of those that can have heard us.
  void await_debts() {
    const TimePoint until = later(Clock::now(), kGiveBack);
    const auto settled = [&](auto request) {
      const Votes& votes = redis_.votes(request);
      for (std::size_t node = 0; node < votes.size(); ++node)
        if (heard_[node] && !votes[node].settled()) return false;
      return true;
    };
    while (Clock::now() < until && !options_.hurried() && !std::ranges::all_of(debts_, settled))
      redis_.loop().turn(until);
  }

  /// What has been undone under an identity that is not used again. A long wait has many rounds.
  void drop_settled_debts() {
    std::erase_if(debts_, [&](auto request) {
      if (!redis_.settled(request)) return false;
      redis_.drop(request);
      return true;
    });
  }

  void drop_debts() {
    for (const auto request : debts_) redis_.drop(request);
    debts_.clear();
  }

  Acquired finish(Taken taken) {
    for (const auto request : debts_) redis_.let_finish(request);
    return taken;
  }

  Acquired give_up() {
    const bool asked_in_vain = blocked_ == 0 && !round_.may_be_granted && !repeated_;
    for (std::size_t i = 0; i < questions_.size(); ++i)
      if (questions_[i].queued || (!asked_in_vain && i <= blocked_)) undo(questions_[i], false);
    await_debts();
    drop_debts();

    GaveUp gave_up{.why = GaveUp::Why::unreachable,
                   .refused = round_.refused,
                   .part = blocked().first,
                   .failure = round_.failure,
                   .busy = busy_,
                   .said = round_.said};
    const bool denied = round_.failure && round_.failure->kind != Error::unreachable;  // beats busy
    if (busy_ && !denied) gave_up.why = GaveUp::Why::busy;
    if (options_.patience.interrupted()) gave_up.why = GaveUp::Why::interrupted;
    if (round_.refused) gave_up.why = GaveUp::Why::refused;
    return gave_up;
  }

  // --- sleeping --------------------------------------------------------------------------------

  /// Until there is a reason to ask again.
  void sleep() {
    const Waitable& what = *blocked().what;
    if (!wakeups_ || wakeups_->channels() != what.channels()) wakeups_.emplace(redis_, what.channels());
    tell();
    const bool split = several_ && (round_.split || round_.failure);
    if (!split) split_pause_ = Milliseconds{0};
    const TimePoint now = Clock::now();
    const TimePoint until = split ? later(now, split_pause()) : asks_again_at(what);
    const auto never = [] { return false; };
    if (split) idle(earliest(until, later(now, least_split_pause() * kLongestBlindPauses)), never);
    // After a failure what wakes us may be our own undo, whose lock we would take and undo again at once.
    const bool failed = round_.failure.has_value();
    const bool woken = idle(until, [&] { return wakeups_->take() && !failed; });
    if (woken) {
      idle(earliest(until, limit_.next()), never);
      limit_.count(Clock::now());
    }
    if (several_ && !split) idle(later(Clock::now(), jitter(kHerdPause)), never);
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

  TimePoint asks_again_at(const Waitable& lock) {
    const bool announced = !lock.channels().empty() && !redis_.subscribe_error();
    Milliseconds nap = lock.poll_every() + jitter(lock.poll_every() / kPollJitterPart);
    if (!announced) nap = pause(lock);
    if (!round_.busy) nap = std::min(nap, kFailurePause + jitter(kFailurePause));
    if (round_.busy && round_.busy->retry_after) nap = std::min(nap, *round_.busy->retry_after + kPastTtl);
    return later(Clock::now(), nap);
  }

  /// MIN, doubling to MAX, each with jitter; equal ends are a constant pause.
  Milliseconds pause(const Waitable& lock) {
    const auto [least, most] = lock.pause();
    pause_ = pause_ == Milliseconds{0} ? least : std::min(pause_ * 2, most);
    return least == most ? pause_ : pause_ / 2 + jitter(pause_);
  }

  /// About what a round takes: in a shorter time nobody can have finished his.
  Milliseconds least_split_pause() const {
    return round_.failure ? kFailurePause : std::clamp(round_took_, kLeastSplitPause, kMostSplitPause);
  }

  Milliseconds split_pause() {
    const Milliseconds doubled = std::min(split_pause_ * 2, kMostSplitPause);
    split_pause_ = std::max(doubled, least_split_pause());
    return split_pause_ / 2 + jitter(split_pause_);
  }

  void tell() const {
    options_.tell({.busy = round_.busy ? &*round_.busy : nullptr,
                   .failure = round_.failure ? &*round_.failure : nullptr,
                   .part = blocked().first,
                   .what = blocked().what});
  }

  Redis& redis_;
  const AcquireOptions& options_;
  const bool several_;  ///< deployments
  const bool one_try_;

  std::vector<Item> parts_;
  const Together* together_ = nullptr;
  std::vector<Question> questions_;
  std::size_t blocked_ = 0;  ///< which of them could not be had
  bool repeated_ = false;    ///< a copy of a question of this wish may still be on its way

  Votes votes_;
  Round round_;  ///< the last one
  Milliseconds round_took_{0};
  std::optional<Busy> busy_;           ///< the last "busy" of this wait
  std::vector<bool> heard_;            ///< deployments that may have heard us
  std::vector<Redis::Request> debts_;  ///< what has been undone, but not everywhere for sure

  std::optional<WakeUps> wakeups_;
  QuestionLimit limit_;
  Milliseconds pause_{0};
  Milliseconds split_pause_{0};
};

}  // namespace

Acquired acquire(Redis& redis, std::span<const Part> parts, const AcquireOptions& options) {
  return Wait{redis, items_of(parts), options}.run();
}

Acquired acquire(Redis& redis, const Waitable& wanted, const AcquireOptions& options) {
  return Wait{redis, {{&wanted}}, options}.run();
}

Milliseconds node_timeout(Milliseconds lease, Milliseconds command_timeout) {
  constexpr int kShare = 20;
  constexpr Milliseconds kLeast{100};  // a way around the world and back
  return std::min(command_timeout, std::max(lease / kShare, kLeast));
}

}  // namespace rlock
