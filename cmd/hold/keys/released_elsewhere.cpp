#include "cmd/hold/keys/released_elsewhere.h"

#include "cmd/hold/request/inner_hold.h"
#include "sync/calls/requests.h"
#include "sync/records/holder_messages.h"

namespace rlock {
namespace {

/// How long to wait for the other servers after a quorum has answered.
constexpr Milliseconds kOtherServersGrace{50};

}  // namespace

void ReleasedElsewhere::begin(Redis& redis, Milliseconds within) {
  if (!has_named_owner()) return;
  const std::vector<Redis::Request> requests = ask(redis, keys_.parts(), within);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Votes& votes = requests[i].votes();
    for (std::size_t node = 0; node < votes.size(); ++node)
      if (const Reply* reply = votes[node].good_reply())
        before_[{keys_.parts()[i].lock->name(), node}] = read_release_number(*reply);
  }
}

std::vector<Part> ReleasedElsewhere::without_released(Redis& redis, const std::vector<Part>& parts,
                                                      Milliseconds within) const {
  const std::vector<Redis::Request> requests = ask(redis, parts, within);
  std::vector<Part> rest;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Votes& votes = requests[i].votes();
    bool released = false;
    for (std::size_t node = 0; node < votes.size(); ++node)
      if (const Reply* reply = votes[node].good_reply())
        released = released || says_released(*reply, {parts[i].lock->name(), node});
    if (!released) rest.push_back(parts[i]);
  }
  return rest;
}

std::vector<Redis::Request> ReleasedElsewhere::ask(Redis& redis, const std::vector<Part>& parts,
                                                   Milliseconds within) const {
  const Patience patience = redis.loop().within(within);
  const Owner id = keys_.id();
  const auto inner = inner_hold_in(id);
  std::vector<Redis::Request> requests;
  for (const Part& part : parts) {
    const LockName& name = part.lock->name();
    const Call question = has_named_owner() ? ask_release_number(name, id)
                          : inner           ? ask_for_inner(name, inner->request)
                                            : ask_released(name, id);
    requests.push_back(redis.post(question, with_retries(), patience.until));
  }
  redis.await(requests, kOtherServersGrace, patience);
  return requests;
}

bool ReleasedElsewhere::says_released(const Reply& reply, const Place& place) const {
  if (!has_named_owner())
    return inner_hold_in(keys_.id()) ? read_inner(reply) == InnerState::ended : read_released(reply);
  const auto before = before_.find(place);
  const std::string number = read_release_number(reply);
  return before != before_.end() && !number.empty() && number != before->second;
}

}  // namespace rlock
