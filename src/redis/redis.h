#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/names.h"
#include "base/time.h"
#include "loop/loop.h"
#include "redis/announcements.h"
#include "redis/call.h"
#include "redis/delivery.h"
#include "redis/failure.h"
#include "redis/vote.h"

namespace rlock {

/// Sends each Call to the nodes, and returns one Vote from each. A single server is a quorum of one. The functions of
/// src/sync that wait, renew and release take a Redis. The synchronizers do no I/O and never see it. The Executor is
/// the real one; tests have one that answers from a list.
///
/// post() and its Request never pump the loop, so Sources may use them; run() pumps it.
class Redis : public Announcements {
 public:
  using CallNumber = std::uint64_t;

  /// A call under way, and its votes so far. When the Request is destroyed, the call is dropped: what was written
  /// stays on the wire, and the replies are ignored. REQUIRES: the Redis outlives it.
  class [[nodiscard]] Request {
   public:
    Request() = default;  ///< no request
    Request(Redis& redis, CallNumber id) : redis_(&redis), id_(id) {}
    Request(Request&& other) noexcept : redis_(std::exchange(other.redis_, nullptr)), id_(other.id_) {}
    Request& operator=(Request&& other) noexcept {
      drop();
      redis_ = std::exchange(other.redis_, nullptr);
      id_ = other.id_;
      return *this;
    }
    ~Request() { drop(); }

    explicit operator bool() const noexcept { return redis_ != nullptr; }
    /// The votes so far; valid as long as the request.
    const Votes& votes() const { return redis_->votes(id_); }
    bool settled() const { return redis_->settled(id_); }  ///< has every node voted?

    void drop() {
      if (redis_ != nullptr) std::exchange(redis_, nullptr)->drop(id_);
    }

    /// Lets the call go on without a Request, until it is settled.
    void detach() {
      if (redis_ != nullptr) std::exchange(redis_, nullptr)->detach(id_);
    }

   private:
    Redis* redis_ = nullptr;
    CallNumber id_ = 0;
  };

  virtual Loop& loop() const = 0;
  virtual std::size_t nodes() const = 0;
  virtual std::size_t quorum() const = 0;

  /// Can the others make a quorum if this many nodes say no?
  bool can_lack(std::size_t noes) const { return noes + quorum() <= nodes(); }

  virtual std::string str(std::size_t node) const = 0;  ///< the node's name in messages
  /// What a message says of this node: with its name in front if there are several.
  std::string named(std::size_t node, const std::string& text) const;

  /// Should a caller retry after a failure? Yes if --wait was given or a quorum has answered before.
  virtual bool keeps_trying() const = 0;

  /// Why no quorum can be used, by the newest attempt at each node. Empty: it did not fail at a quorum of nodes.
  virtual std::optional<Failure> trouble() const = 0;

  /// Number of open connections that were lost; only grows. After a loss, a listener must ask again.
  virtual std::uint64_t losses() const = 0;

  /// From now on another process uses the connections and the loop. Every call fails at once, and nothing is
  /// read or written.
  virtual void give_away() = 0;

  /// Sends the call to every node. At the deadline, unsettled votes become failures.
  virtual Request post(const Call& call, const Delivery& delivery, TimePoint deadline) = 0;

  /// The time from which these votes are enough: TimePoint::min() for at once, kNever for not yet. It is
  /// called once per turn of the loop, with the time of that turn.
  using EnoughFrom = std::function<TimePoint(const Votes&, TimePoint now)>;

  /// Posts the call and pumps the loop, until every vote is settled, the votes are enough, or the patience ends. Then
  /// drops the call.
  virtual Votes run(const Call& call, const Delivery& delivery, const Patience& patience,
                    const EnoughFrom& enough_from) = 0;

  /// Is there an answered call with an unanswered follower, on a connection that still works?
  virtual bool has_followers_in_flight() const = 0;

  /// Waits for the replies to followers, for a moment at most: most of them come together with the reply to their
  /// call. Call it before the process ends. If a server does not know the script of a follower, we must read that
  /// reply and send the source.
  void await_followers(const Patience& patience) const;

  /// Waits for the votes of all requests. After a quorum has answered each of them, the other nodes get `grace`.
  void await(const std::vector<Request>& requests, Milliseconds grace, const Patience& patience) const;

  /// Writes `calls` behind the calls that abandoned connections still carry. If a frozen server wakes up, it
  /// carries out the old calls first, and then `calls` (undos or releases). No reply is awaited.
  virtual void send_on_abandoned(const std::vector<Call>& calls) = 0;

  /// Are two nodes the same server, as far as they have told their identity? Then returns a failure that
  /// names both.
  virtual std::optional<Failure> same_server_twice() const = 0;

  /// Does run() until every vote is settled or the patience ends.
  Votes run_all(const Call& call, const Delivery& delivery, const Patience& patience) {
    return run(call, delivery, patience, [](const Votes&, TimePoint) { return kNever; });
  }

 protected:
  // The functions behind Request.
  virtual const Votes& votes(CallNumber request) const = 0;
  virtual bool settled(CallNumber request) const = 0;
  virtual void drop(CallNumber request) = 0;
  virtual void detach(CallNumber request) = 0;
};

}  // namespace rlock
