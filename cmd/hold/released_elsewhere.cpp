#include "cmd/hold/released_elsewhere.h"

#include <algorithm>
#include <functional>

#include "cmd/hold/inherited_hold.h"
#include "sync/kinds/requests.h"
#include "sync/watch/holder_messages.h"

namespace rlock {
namespace {

/// How long to wait for the other servers after a quorum has answered.
constexpr Milliseconds kAnswerGrace{50};

/// The votes about each key.
std::map<LockName, Votes> ask(Redis& redis, const std::vector<Part>& parts,
                              const std::function<Call(const LockName&)>& question, Milliseconds within) {
  const Patience patience = redis.loop().within(within);
  std::vector<Redis::Request> requests;
  for (const Part& part : parts)
    requests.push_back(redis.post(question(part.lock->name()), {}, patience.until));
  redis.await(requests, kAnswerGrace, patience);
  std::map<LockName, Votes> votes;
  for (std::size_t i = 0; i < parts.size(); ++i) votes.emplace(parts[i].lock->name(), requests[i].votes());
  return votes;
}

std::optional<std::string> number_in(const Vote& vote) {
  const Reply* reply = vote.good_reply();
  return reply != nullptr ? std::optional{read_release_number(*reply)} : std::nullopt;
}

}  // namespace

void ReleasedElsewhere::begin(Redis& redis, Milliseconds within) {
  if (!keys_.request().owner) return;
  const auto question = [&](const LockName& name) { return ask_release_number(name, keys_.id()); };
  for (const auto& [name, votes] : ask(redis, keys_.parts(), question, within))
    std::ranges::transform(votes, std::back_inserter(before_[name]), number_in);
}

std::set<LockName> ReleasedElsewhere::among(Redis& redis, const std::vector<Part>& parts,
                                            Milliseconds within) const {
  const Owner id = keys_.id();
  const bool named = keys_.request().owner.has_value();
  const auto inner = inner_hold_in(id);
  const auto question = [&](const LockName& name) {
    if (named) return ask_release_number(name, id);
    return inner ? ask_for_inner(name, inner->request) : ask_released(name, id);
  };
  const auto is_released = [&](const LockName& name, const Votes& votes) {
    for (std::size_t node = 0; node < votes.size(); ++node) {
      const Reply* reply = votes[node].good_reply();
      if (reply == nullptr) continue;
      if (!named) {
        if (inner ? read_inner(*reply) == InnerState::ended : read_released(*reply)) return true;
        continue;
      }
      const auto before = before_.find(name);
      if (before == before_.end() || !before->second[node]) continue;  // the server did not answer then
      const std::string number = read_release_number(*reply);
      if (!number.empty() && number != *before->second[node]) return true;
    }
    return false;
  };
  std::set<LockName> released;
  for (const auto& [name, votes] : ask(redis, parts, question, within))
    if (is_released(name, votes)) released.insert(name);
  return released;
}

}  // namespace rlock
