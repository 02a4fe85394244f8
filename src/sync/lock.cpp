#include "sync/lock.h"

#include <fmt/format.h>

#include "base/random.h"
#include "base/text.h"
#include "scripts.h"
#include "sync/foreign.h"
#include "sync/keys.h"
#include "sync/requests.h"

namespace rlock {
namespace {

constexpr std::string_view kWhat = "a lock";

std::string number(Milliseconds duration) { return std::to_string(duration.count()); }

Channel channel_of(const LockName& name) { return Channel{prefix_name("redisson_lock__channel", name)}; }

}  // namespace

Lock::Lock(Claim claim, Hold hold)
    : claim_(std::move(claim)),
      hold_(hold),
      entering_(request_key(claim_.name, new_request())),
      leaving_(request_key(claim_.name, new_request())) {}

std::vector<Channel> Lock::channels() const { return {channel_of(claim_.name)}; }

Call Lock::ask() const {
  Call call{.script = &scripts::lock_acquire,
            .keys = {claim_.name.str()},
            .args = {claim_.owner.str(), number(claim_.lease)}};
  if (hold_ == Hold::another) {
    call.script = &scripts::lock_enter;
    call.keys.push_back(entering_);
    call.args.push_back(number(kRequestMemory));
  }
  return call;
}

Attempt Lock::read(const Reply& reply) const {
  switch (reply.at(0).integer()) {
    case 1: return Held{.server_time = Milliseconds{reply.at(1).integer()}};
    case 0: return busy_until(reply.at(1));
    case 2:
      return Refused{.why = Refused::Why::absent,
                     .text = fmt::format("{} is not held by {} any more", quoted(claim_.name.str()),
                                         sanitized(claim_.owner.str()))};
    case -1: return refuse_foreign(claim_.name, kWhat, reply.at(1).text());
  }
  throw Error{Error::internal, fmt::format("{} answered {}", ask().script->name, reply.at(0).integer())};
}

std::optional<Call> Lock::give_back() const {
  if (hold_ == Hold::first) return release({});
  return Call{
      .script = &scripts::lock_retract, .keys = {claim_.name.str(), entering_}, .args = {claim_.owner.str()}};
}

Call Lock::renew() const {
  return {.script = &scripts::lock_renew,
          .keys = {claim_.name.str()},
          .args = {claim_.owner.str(), number(claim_.lease)}};
}

bool Lock::read_renewal(const Reply& reply) const { return reply.integer() == 1; }

/// A first hold that is the only one is released by a script of one key: with a second one a cluster would refuse it for
/// as long as the slot migrates.
Call Lock::release(const Farewell& farewell) const {
  return release_call(farewell, queue_keys(), hold_ == Hold::another);
}

Call Lock::release_any() const { return release_call({}, fair_queue_keys(claim_.name), true); }

Call Lock::release_call(const Farewell& farewell, const std::vector<std::string>& queue, bool counted) const {
  Call call{
      .script = &scripts::lock_release,
      .keys = {claim_.name.str()},
      .args = {claim_.owner.str(), number(claim_.lease),
               number(farewell.keep_until.value_or(Milliseconds{0})), farewell.silently ? "" : announcement(),
               claim_.cluster ? "1" : "0", number(kRequestMemory)}};
  call.keys.insert(call.keys.end(), queue.begin(), queue.end());
  if (counted) call.keys.push_back(leaving_);
  return call;
}

Released Lock::read_release(const Reply& reply) const {
  switch (reply.at(0).integer()) {
    case 1: return {.how = Released::How::yes, .unannounced = reply.at(1).text()};
    case 0: return {.how = Released::How::still_held};
    case 2: return {.how = Released::How::kept, .rest = Milliseconds{reply.at(1).integer()}};
    case 3: return {.how = Released::How::still_held, .then = release_call({}, queue_keys(), true)};
    case -1: return {.how = Released::How::was_not_ours};
  }
  throw Error{Error::internal, fmt::format("lock/release answered {}", reply.at(0).integer())};
}

Call Lock::force(const LockName& name, const Owner& owner, bool cluster) {
  Call call{.script = &scripts::lock_force,
            .keys = {name.str()},
            .args = {owner.str(), channel_of(name).str(), cluster ? "1" : "0"}};
  const auto queue = fair_queue_keys(name);
  call.keys.insert(call.keys.end(), queue.begin(), queue.end());
  return call;
}

Forced read_forced(const LockName& name, std::string_view wanted, const Reply& reply) {
  switch (reply.at(0).integer()) {
    case 1: return {.how = Forced::How::removed, .unannounced = reply.at(1).text()};
    case 0: return {.how = Forced::How::nothing_there};
    case 2: return {.how = Forced::How::other_owner, .other = reply.at(1).text()};
    case -1:
      return {.how = Forced::How::refused, .refused = refuse_foreign(name, wanted, reply.at(1).text())};
  }
  throw Error{Error::internal, fmt::format("force answered {}", reply.at(0).integer())};
}

}  // namespace rlock
