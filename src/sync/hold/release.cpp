// Every part is released at once, on all nodes. await() waits for a quorum and a moment more, follow_up()
// sends the second call that some releases need (Released::then), result_of() counts what the nodes say. A
// release has no second chance: after it rlock ends. So its result has a word for each thing that a person
// should know, and "unknown" is one of them: then the key frees itself with the lease.
//
// What shaped it: a release whose reply was lost is sent again, and the second copy is told "not ours",
// because the first has released it. Only when there was one copy does "not ours" mean that the lock had been
// lost.

#include "sync/hold/release.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"
#include "redis/enough.h"

namespace rlock {
namespace {

/// How much longer than a quorum the other nodes get: they may be gone for days.
constexpr Milliseconds kGrace{200};

/// What the nodes say about one part, counted.
struct Count {
  std::size_t ours = 0;  ///< freed or kept
  std::size_t gone = 0;  ///< nothing of ours was there
  std::vector<std::string> silent;
  ReleaseResult back;

  void put(const Released& released, bool repeated) {
    if (!released.unannounced.empty()) back.unannounced = released.unannounced;
    // "Not ours" as the reply to a second copy: the first one has released it.
    ++(released.how == Released::How::was_not_ours && !repeated ? gone : ours);
    if (released.how != Released::How::kept) return;
    back.how = ReleaseResult::How::kept;
    back.rest = std::max(back.rest, released.rest);
  }
};

/// What one node answered about one part.
struct NodeAnswer {
  ReleaseAnswer answer;
  bool repeated;  ///< the node may have received the call more than once
};

std::vector<NodeAnswer> answers_of(const Lockable& lock, const Votes& votes) {
  std::vector<NodeAnswer> answers;
  for (const Vote& vote : votes) {
    ReleaseAnswer answer = vote.failure.value_or(Failure{Error::unreachable, "no answer in time"});
    if (vote.reply) answer = lock.read_release(*vote.reply);
    answers.push_back({std::move(answer), vote.attempts > 1});
  }
  return answers;
}

/// It is free when somebody else can now have a quorum. It had been lost when so many nodes had nothing of
/// ours that we cannot have had a quorum.
ReleaseResult result_of(const Redis& redis, const std::vector<NodeAnswer>& answers) {
  Count count;
  for (std::size_t node = 0; node < answers.size(); ++node) {
    const auto& [answer, repeated] = answers[node];
    if (const auto* released = std::get_if<Released>(&answer)) {
      count.put(*released, repeated);
    } else {
      const std::string& why = std::get<Failure>(answer).text;
      count.silent.push_back(redis.nodes() == 1 ? why : fmt::format("{}: {}", redis.str(node), why));
    }
  }
  ReleaseResult back = std::move(count.back);
  back.why = joined(count.silent, "; ");
  const std::size_t quorum = redis.quorum();
  if (count.gone > answers.size() - quorum && count.ours < quorum) {
    back.how = ReleaseResult::How::not_ours;
  } else if (count.ours + count.gone < quorum) {
    back.how = ReleaseResult::How::unknown;
  } else if (back.how != ReleaseResult::How::kept) {
    back.how = ReleaseResult::How::yes;
  }
  return back;
}

/// Sends the second call that some answers ask for (Released::then), and reads it for the nodes that asked. A
/// node that had released our hold before is believed, whatever becomes of the second call: that one only
/// clears away what dead readers have left.
void follow_up(Redis& redis, const Lockable& lock, std::vector<NodeAnswer>& answers,
               const Patience& patience) {
  std::optional<Call> call;
  std::map<std::size_t, Released::How> unfinished;
  for (std::size_t node = 0; node < answers.size(); ++node) {
    auto* released = std::get_if<Released>(&answers[node].answer);
    if (released == nullptr || !released->then) continue;
    unfinished.emplace(node, released->how);
    if (!call) call = std::move(released->then);  // the same for all nodes, as far as it concerns us
  }
  if (!call) return;
  const std::vector<NodeAnswer> later = answers_of(lock, redis.run_all(*call, persistently(), patience));
  for (const auto& [node, before] : unfinished) {
    const auto* released = std::get_if<Released>(&later[node].answer);
    const bool confirmed = released != nullptr && released->how == Released::How::yes;
    if (before != Released::How::yes || confirmed) answers[node] = later[node];
  }
}

/// Waits for all answers; when a quorum has answered about each part, not much longer for the other nodes.
void await(const Redis& redis, const std::vector<Redis::Request>& requests, const Patience& patience) {
  Enough enough{redis.quorum(), kGrace};
  const auto by_quorum = [&](const auto& request) { return answered_by(enough.nodes(), request.votes()); };
  while (!std::ranges::all_of(requests, &Redis::Request::settled)) {
    const TimePoint now = redis.loop().now();
    const TimePoint until =
        earliest(patience.until, enough.from(std::ranges::all_of(requests, by_quorum), now));
    if (now >= until || patience.interrupted()) return;
    redis.loop().turn(until);
  }
}

}  // namespace

std::vector<ReleaseResult> release(Redis& redis, std::span<const Part> parts, const ReleaseOptions& options,
                                   const Patience& patience) {
  std::vector<Redis::Request> requests;
  for (const Part& part : parts) {
    Delivery delivery = persistently(part.release_followers);
    delivery.source = Delivery::Source::to_several;
    requests.push_back(redis.post(part.lock->release(options), delivery, patience.until));
  }
  await(redis, requests, patience);

  std::vector<ReleaseResult> back;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::vector<NodeAnswer> answers = answers_of(*parts[i].lock, requests[i].votes());
    requests[i].drop();
    follow_up(redis, *parts[i].lock, answers, patience);
    back.push_back(result_of(redis, answers));
  }
  // Abandoned connections may still carry our acquire or a renewal. Last, since a copy there that comes
  // before the one that we read would make its answer "not ours".
  for (const Part& part : parts) {
    std::vector<Call> calls{part.lock->release(options)};
    std::ranges::copy(part.release_followers, std::back_inserter(calls));
    redis.send_on_abandoned(calls);
  }
  redis.await_followers(patience);
  return back;
}

}  // namespace rlock
