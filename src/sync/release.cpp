#include "sync/release.h"

#include <algorithm>
#include <optional>

namespace rlock {
namespace {

/// Reads what the deployments say about one part.
GivenBack tally(const Lockable& lock, const Votes& votes) {
  GivenBack back;
  std::size_t gone = 0;
  for (const Vote& vote : votes) {
    const Reply* answer = vote.answer();
    if (answer == nullptr) {
      back.why = vote.failure ? vote.failure->text
                 : vote.reply ? failure_of(*vote.reply).text
                              : "no answer in time";
      continue;
    }
    const Released released = lock.read_release(*answer);
    if (!released.unannounced.empty()) back.unannounced = released.unannounced;
    if (released.how == Released::How::kept) {
      back.how = GivenBack::How::kept;
      back.rest = released.rest;
    } else if (released.how != Released::How::was_not_ours || vote.attempts > 1) {
      // "Not ours" in answer to a repetition: the first copy has released it.
      if (back.how != GivenBack::How::kept) back.how = GivenBack::How::yes;
    } else {
      ++gone;
    }
  }
  if (back.how == GivenBack::How::unknown && gone > 0 && gone * 2 > votes.size())
    back.how = GivenBack::How::not_ours;
  return back;
}

/// The second call that some answers ask for (Released::then).
std::optional<Call> follow_up(const Lockable& lock, const Votes& votes) {
  for (const Vote& vote : votes) {
    const Reply* answer = vote.answer();
    if (answer == nullptr) continue;
    if (Released released = lock.read_release(*answer); released.then) return released.then;
  }
  return std::nullopt;
}

bool all_settled(const Redis& redis, const std::vector<Redis::Request>& requests) {
  return std::ranges::all_of(requests, [&](auto request) { return redis.settled(request); });
}

}  // namespace

std::vector<GivenBack> give_back(Redis& redis, std::span<const Part> parts, const Farewell& farewell,
                                 const Patience& patience) {
  std::vector<Redis::Request> requests;
  for (const Part& part : parts) {
    Call call = part.lock->release(farewell);
    redis.farewell(call);
    call.escort = part.erasure;
    requests.push_back(redis.post(call, patience.until, Redis::Insist::persist));
  }
  while (!all_settled(redis, requests) && !patience.ended()) redis.loop().turn(patience.until);

  std::vector<GivenBack> back;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Votes votes = redis.votes(requests[i]);
    redis.drop(requests[i]);
    if (const auto call = follow_up(*parts[i].lock, votes)) votes = redis.run(*call, patience);
    back.push_back(tally(*parts[i].lock, votes));
  }
  return back;
}

}  // namespace rlock
