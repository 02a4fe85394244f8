// Releases every part at once, on all nodes. await() waits for a quorum and a moment more. follow_up() sends the
// second call that some releases need (Released::then). result_of() counts the answers. Nothing corrects its result
// later, because most commands end after a release. So the result has a word for every case that the user should know.
// One of them is "unknown": then the key expires with the lease.
//
// If the reply to a release is lost, rlock sends the release again. The second copy may get "not ours",
// because the first has released the lock. So "not ours" means a lost lock only if there was one copy.

#include "sync/hold/release.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "sync/calls/arguments.h"

namespace rlock {
namespace {

/// How long to wait for the other nodes after a quorum. It is short, because they may be down for days.
constexpr Milliseconds kReleaseGrace{200};

/// The answer of one node about one part.
struct NodeAnswer {
  ReleaseAnswer answer;
  bool repeated;  ///< the node may have received the call more than once
};

std::vector<NodeAnswer> answers_of(const Lockable& lock, const Votes& votes) {
  std::vector<NodeAnswer> answers;
  for (const Vote& vote : votes) {
    ReleaseAnswer answer = no_answer_in_time();
    if (vote.reply()) answer = lock.read_release(*vote.reply());
    if (vote.failure()) answer = *vote.failure();
    answers.push_back({std::move(answer), vote.attempts > 1});
  }
  return answers;
}

/// The lock is free if another owner can now get a quorum. If so many nodes had no hold of ours that we had
/// no quorum, the lock was lost before the release.
ReleaseResult result_of(const Redis& redis, const std::vector<NodeAnswer>& answers) {
  ReleaseResult result;
  result.how = ReleaseResult::How::yes;
  std::size_t ours = 0;  // nodes that released or kept our hold
  std::size_t gone = 0;  // nodes that had no hold of ours
  std::vector<std::string> silent;
  for (std::size_t node = 0; node < answers.size(); ++node) {
    const auto& [answer, repeated] = answers[node];
    const auto* released = std::get_if<Released>(&answer);
    if (released == nullptr) {
      silent.push_back(redis.named(node, std::get<Failure>(answer).text));
      continue;
    }
    if (!released->unannounced.empty()) result.unannounced = released->unannounced;
    // If the reply to a second copy is "not ours", the first copy has released the hold.
    ++(released->how == Released::How::not_ours && !repeated ? gone : ours);
    if (released->how == Released::How::kept) result.how = ReleaseResult::How::kept;
    result.rest = std::max(result.rest, released->rest);
  }
  result.why = joined(silent, "; ");
  if (!redis.can_lack(gone) && ours < redis.quorum()) {
    result.how = ReleaseResult::How::not_ours;
  } else if (!redis.can_lack(silent.size())) {
    result.how = ReleaseResult::How::unknown;
  }
  return result;
}

/// Sends the second call that some answers ask for (Released::then). It awaits only the nodes that asked for it,
/// because the others may be down.
void follow_up(Redis& redis, const Lockable& lock, std::vector<NodeAnswer>& answers,
               const Patience& patience) {
  std::optional<Call> call;
  std::vector<std::size_t> unfinished;
  for (std::size_t node = 0; node < answers.size(); ++node) {
    auto* released = std::get_if<Released>(&answers[node].answer);
    if (released == nullptr || !released->then) continue;
    unfinished.push_back(node);
    if (!call) call = std::move(released->then);  // one call serves for all nodes
  }
  if (!call) return;
  const auto enough_from = [&unfinished](const Votes& votes, TimePoint now) {
    const auto settled = [&votes](std::size_t node) { return votes[node].settled(); };
    return std::ranges::all_of(unfinished, settled) ? now : kNever;
  };
  const std::vector<NodeAnswer> later =
      answers_of(lock, redis.run(*call, with_retries(), patience, enough_from));
  for (const std::size_t node : unfinished) answers[node] = later[node];
}

/// On a node that the acquire gave nothing, the owner has what it had before, which may be a hold. If a second copy
/// found nothing, the first one has undone the hold.
Undone undone_by(const std::vector<NodeAnswer>& answers, std::size_t quorum) {
  std::size_t freed = 0, stays = 0, untouched = 0;
  for (const NodeAnswer& node : answers) {
    const auto* released = std::get_if<Released>(&node.answer);
    if (released == nullptr) continue;
    switch (released->how) {
      case Released::How::yes: ++freed; break;
      case Released::How::still_held:
      case Released::How::kept: ++stays; break;
      case Released::How::not_ours: ++(node.repeated ? freed : untouched); break;
    }
  }
  if (freed + stays + untouched < quorum) return Undone::unconfirmed;
  if (untouched >= quorum) return Undone::nothing;
  return stays + untouched >= quorum ? Undone::one_hold : Undone::freed;
}

}  // namespace

std::vector<ReleaseResult> release(Redis& redis, std::span<const Part> parts, const ReleaseOptions& options,
                                   const Patience& patience) {
  std::vector<Redis::Request> requests;
  std::vector<Call> calls;
  for (const Part& part : parts) {
    Delivery delivery = with_retries(part.release_followers);
    delivery.source = Delivery::Source::to_several;
    calls.push_back(part.lock->release(options));
    requests.push_back(redis.post(calls.back(), delivery, patience.until));
    append(calls, part.release_followers);
  }
  redis.await(requests, kReleaseGrace, patience);

  std::vector<ReleaseResult> results;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::vector<NodeAnswer> answers = answers_of(*parts[i].lock, requests[i].votes());
    requests[i].drop();
    follow_up(redis, *parts[i].lock, answers, patience);
    results.push_back(result_of(redis, answers));
  }
  // An abandoned connection may still carry our acquire or a renewal, so a release is written behind it
  // there, too. This comes last: if that release arrived first, the one above would get the answer "not
  // ours".
  redis.send_on_abandoned(calls);
  redis.await_followers(patience);
  return results;
}

std::vector<Undone> undo_parts(Redis& redis, std::span<const Part> parts, const Patience& patience) {
  std::vector<Redis::Request> requests;
  std::vector<Call> calls;
  for (const Part& part : parts) {
    calls.push_back(*part.lock->undo(Wake::waiters));
    requests.push_back(redis.post(calls.back(), for_undo(part.release_followers), patience.until));
    append(calls, part.release_followers);
  }
  redis.await(requests, kReleaseGrace, patience);
  redis.send_on_abandoned(calls);

  std::vector<Undone> undone;
  for (std::size_t i = 0; i < parts.size(); ++i)
    undone.push_back(undone_by(answers_of(*parts[i].lock, requests[i].votes()), redis.quorum()));
  return undone;
}

void record_end(Redis& redis, std::span<const Part> parts, const Patience& patience) {
  std::vector<Redis::Request> requests;
  for (const Part& part : parts)
    for (const Call& call : part.release_followers) requests.push_back(redis.post(call, {}, patience.until));
  redis.await(requests, kReleaseGrace, patience);
}

}  // namespace rlock
