#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/names.h"
#include "base/time.h"
#include "loop/loop.h"
#include "redis/call.h"
#include "redis/failure.h"
#include "redis/reply.h"

namespace rlock {

/// What one deployment said to a call: an answer, or why there is none. While neither, it has not answered yet.
struct Vote {
  std::optional<Reply> reply;
  std::optional<Failure> failure;
  std::uint64_t connection = 0;  ///< which one answered (Call::only_on)
  TimePoint asked{};             ///< before the attempt that was answered was written: a lease runs from here

  int attempts =
      0;  ///< how often the server may have heard it: an answer to a repetition may tell what the first copy did

  bool settled() const noexcept { return reply || failure; }

  /// The reply, if there is one that is no error.
  const Reply* answer() const noexcept { return reply && !reply->is_error() ? &*reply : nullptr; }
};

/// One vote per deployment, in the order of the targets.
using Votes = std::vector<Vote>;

/// What synchronizers see of Redis: a Call goes to every deployment, Votes come back. A single server is a quorum of one.
/// The Executor is the real one; tests have one that answers from a list.
///
/// post() and votes() never pump the loop and may be used by Sources; run() pumps it.
class Redis {
 public:
  using Request = std::uint64_t;

  /// Whether a call survives the failure of its connection: `persist` tries again until the deadline (before the first
  /// contact only if we were told to wait for a server), `once` makes a failure the vote.
  enum class Insist { persist, once };

  virtual ~Redis() = default;

  virtual Loop& loop() const = 0;
  virtual std::size_t nodes() const = 0;
  virtual std::size_t quorum() const = 0;
  virtual std::string str(std::size_t node) const = 0;  ///< what it is called in messages

  /// After a failure? Not when nobody asked us to wait for a server and a quorum has never been there.
  virtual bool keeps_trying() const = 0;

  /// Sends to every deployment. Unsettled votes become failures at the deadline.
  virtual Request post(const Call& call, TimePoint deadline, Insist insist) = 0;
  virtual const Votes& votes(Request request) const = 0;  ///< so far; valid until drop()
  virtual bool settled(Request request) const = 0;
  virtual void drop(Request request) = 0;  ///< nobody looks at it any more; what is on the wire stays there
  virtual void let_finish(
      Request request) = 0;  ///< nobody looks at it any more, but it goes on to its deadline

  /// From when on so many votes will do: TimePoint::min() at once, kNever not yet.
  using EnoughFrom = std::function<TimePoint(const Votes&)>;

  /// Posts, pumps the loop until every vote is settled, or they are enough, or the patience ends; drops.
  virtual Votes run(const Call& call, const Patience& patience, Insist insist = Insist::persist,
                    const EnoughFrom& enough_from = {}) = 0;

  /// Writes `call` behind what connections still carry that were given up, so that a frozen server that wakes up undoes
  /// what it then does. Nobody waits for an answer.
  virtual void farewell(const Call& call) = 0;

  virtual void watch(const Channel& channel) = 0;
  virtual void unwatch(const Channel& channel) = 0;
  virtual std::uint64_t news() const = 0;  ///< messages and confirmed (re-)subscriptions; only grows
  virtual std::optional<std::string> deaf() const = 0;  ///< nobody will announce anything, and why

  /// Are two of the deployments one and the same server, as far as they have said who they are? Then which.
  virtual std::optional<Failure> twins() const { return std::nullopt; }

  /// For a quorum of one or where any answer will do: the first reply that is no error. Throws Error for failures and error
  /// replies.
  Reply ask(const Call& call, const Patience& patience);
};

}  // namespace rlock
