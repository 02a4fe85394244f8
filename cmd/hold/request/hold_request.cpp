#include "cmd/hold/request/hold_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/as_given.h"
#include "base/error.h"
#include "base/owner_id.h"
#include "cmd/hold/request/inherited_hold.h"

namespace rlock {
namespace {

[[noreturn]] void refuse_several_servers(std::string_view option) {
  throw Error{Error::usage, fmt::format("{} with several servers ({}): they have no common queue of waiters",
                                        option, as_given("url", "--url"))};
}

void check_newest(const HoldRequest& request, std::size_t servers) {
  if (!request.newest) return;
  const auto refuse = [](const std::string& why) { throw Error{Error::usage, "--newest " + why}; };
  if (!request.type->in_order.empty())
    refuse(fmt::format("with --type {}: {}", request.type->name, request.type->in_order));
  if (servers > 1) refuse_several_servers("--newest");
  if (request.wait.nonblock)
    refuse(fmt::format("with {}: it supersedes the other waiters, so it has to wait itself",
                       request.wait.nonblock_as_given()));
  if (request.queue_limit)
    refuse(
        "with --queue-limit: it supersedes the other waiters, however many there are, so it has to wait itself");
}

void check(const HoldRequest& request) {
  const TypeOptions& options = request.type_options;
  const std::size_t servers = request.deployment.targets.size();
  if (options.permits && options.count > *options.permits)
    throw Error{Error::usage,
                fmt::format("--count {} is more than --permits {}", options.count, *options.permits)};
  if (options.fair_wait_timeout && !request.type->fair_wait)
    throw Error{Error::usage,
                fmt::format("--fair-wait-timeout with --type {}: it is for --fair", request.type->name)};
  check_newest(request, servers);
  if (!request.queue_limit) return;
  if (request.type->polls)
    throw Error{Error::usage,
                fmt::format("--queue-limit with --type {}: its waiters have no queue", request.type->name)};
  if (servers > 1) refuse_several_servers("--queue-limit");
}

/// The longest environment variable that the kernel accepts, with its name and end (MAX_ARG_STRLEN).
constexpr std::size_t kLongestVariable = 128 * 1024;

/// The keys must fit into the environment. Otherwise the command could not start after the acquire, and a script could
/// start nothing after `lock acquire --export`.
void refuse_too_many(const HoldRequest& request) {
  const std::vector<LockName>& names = request.names;
  std::size_t bytes = 0;
  for (const LockName& name : names) bytes += name.str().size();
  if (names.size() > kMostKeys || bytes > kMostBytesOfKeys)
    throw Error{Error::usage,
                fmt::format("{} keys of {} bytes; rlock takes at most {} keys, and {} KiB of them",
                            names.size(), bytes, kMostKeys, kMostBytesOfKeys / 1024)};
  std::vector<InheritedHold> holds = holds_above_us();
  const Owner owner = request.owner.value_or(Owner{std::string(kLongestOwner, '0')});
  for (const LockName& name : names) holds.push_back({std::string{request.type->name}, owner, name});
  if (write_holds(holds).size() + sizeof "RLOCK_STACK=" > kLongestVariable)
    throw Error{
        Error::usage,
        "these keys and those of the runs above are too long for a variable in the environment of the command"};
}

}  // namespace

void HoldRequest::plan_time(std::optional<Milliseconds> lost_grace) {
  const bool shared_owner = owner || joining.inside;  // a JVM may be the same owner
  budget = plan_budget({.lease = lease,
                        .lost_grace = lost_grace,
                        .kill_after = stop.kill_after,
                        .renews = renew,
                        .renew_within = shared_owner ? kBesideRedisson : type->renewed_within});
  good_for = budget.stop_after();  // if it is granted later, the command would be stopped at once
}

void HoldRequest::complete(Deployment resolved, const std::vector<std::string>& keys) {
  deployment = std::move(resolved);
  need_few_servers(*type, deployment.targets.size());
  for (const std::string& key : keys) names.push_back(deployment.name(key));
  // Every rlock acquires several locks in the same order. Otherwise two rlocks could wait for each other.
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  if (names.size() > 1 && !type->only_one_key.empty())
    throw Error{Error::usage,
                fmt::format("--type {} with {} keys: {}", type->name, names.size(), type->only_one_key)};
  check(*this);
  refuse_too_many(*this);
}

}  // namespace rlock
