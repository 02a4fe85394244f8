#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/names.h"
#include "base/time.h"
#include "loop/loop.h"
#include "redis/call.h"
#include "redis/delivery.h"
#include "redis/failure.h"
#include "redis/message.h"
#include "redis/reply.h"
#include "redis/vote.h"

namespace rlock {

class Mailbox;

/// Where Calls go and Votes come from: every call is sent to each node, and each node gives one vote. A single
/// server is a quorum of one. The functions of src/sync that wait, renew and release take it; the synchronizers
/// do no I/O and never see it.
/// The Executor is the real one; tests have one that answers from a list.
///
/// post() and its Request never pump the loop and may be used by Sources; run() pumps it.
class Redis {
 public:
  using RequestId = std::uint64_t;

  /// A call under way, and the votes that have come. Whoever has it looks at it; when it goes, nobody does:
  /// what is on the wire stays there, and its replies are read and forgotten. REQUIRES: the Redis outlives it.
  class [[nodiscard]] Request {
   public:
    Request() = default;  ///< none
    Request(Redis& redis, RequestId id) : redis_(&redis), id_(id) {}
    Request(Request&& other) noexcept : redis_(std::exchange(other.redis_, nullptr)), id_(other.id_) {}
    Request& operator=(Request&& other) noexcept {
      drop();
      redis_ = std::exchange(other.redis_, nullptr);
      id_ = other.id_;
      return *this;
    }
    ~Request() { drop(); }

    explicit operator bool() const noexcept { return redis_ != nullptr; }
    const Votes& votes() const { return redis_->votes(id_); }  ///< so far; valid as long as the request
    bool settled() const { return redis_->settled(id_); }      ///< has every node voted?

    void drop() {
      if (redis_ != nullptr) std::exchange(redis_, nullptr)->drop(id_);
    }

    /// It goes on to its deadline without anybody who looks.
    void detach() {
      if (redis_ != nullptr) std::exchange(redis_, nullptr)->detach(id_);
    }

   private:
    Redis* redis_ = nullptr;
    RequestId id_ = 0;
  };

  virtual ~Redis() = default;

  virtual Loop& loop() const = 0;
  virtual std::size_t nodes() const = 0;
  virtual std::size_t quorum() const = 0;
  virtual std::string str(std::size_t node) const = 0;  ///< what it is called in messages

  /// Retry after a failure? Yes when --wait was given or a quorum has answered before.
  virtual bool keeps_trying() const = 0;

  /// Why no quorum can be used, as the newest attempt at each node has told; nothing: none has failed, or a
  /// later one was answered.
  virtual std::optional<Failure> trouble() const { return std::nullopt; }

  /// How many open connections were lost; only grows. Whoever listens on one has to ask again.
  virtual std::uint64_t losses() const { return 0; }

  /// Another process uses the connections and the loop from now on: every call fails at once, and nothing is
  /// read or written.
  virtual void give_away() {}

  /// Sends to every node. Unsettled votes become failures at the deadline.
  virtual Request post(const Call& call, const Delivery& delivery, TimePoint deadline) = 0;

  /// From when on these votes are enough: TimePoint::min() at once, kNever not yet. Asked once per turn of
  /// the loop, with the time of that turn.
  using EnoughFrom = std::function<TimePoint(const Votes&, TimePoint now)>;

  /// Posts, pumps the loop until every vote is settled, or they are enough, or the patience ends; drops.
  virtual Votes run(const Call& call, const Delivery& delivery, const Patience& patience,
                    const EnoughFrom& enough_from) = 0;

  /// Has a call been answered one of whose followers has not, on a connection that is still good?
  virtual bool has_followers_in_flight() const { return false; }

  /// Before the end of the process: a server that does not know the script of a follower gets it as text only
  /// while we read its replies. They mostly come together with that of the call. Waits a moment at most.
  void await_followers(const Patience& patience) const;

  /// Writes `calls` behind those that abandoned connections still carry: a frozen server that wakes up
  /// carries those out and then undoes them. Nobody waits for an answer.
  virtual void send_on_abandoned(const std::vector<Call>& calls) = 0;

  virtual void watch(const Channel& channel) = 0;
  virtual void unwatch(const Channel& channel) = 0;
  virtual std::uint64_t wakeups() const = 0;  ///< messages and confirmed (re-)subscriptions; only grows
  virtual std::optional<std::string> subscribe_error() const = 0;  ///< why no node sends messages

  /// Are two of the nodes the same server, as far as they have said who they are? Then which.
  virtual std::optional<Failure> same_server_twice() const { return std::nullopt; }

  /// run() until every vote is settled or the patience ends.
  Votes run_all(const Call& call, const Delivery& delivery, const Patience& patience) {
    return run(call, delivery, patience, [](const Votes&, TimePoint) { return kNever; });
  }

  /// For a quorum of one or where any answer will do: the first reply
  /// that is no error. Throws Error for failures and error replies.
  Reply ask(const Call& call, const Patience& patience);

 protected:
  virtual std::vector<Message> take_messages() = 0;  ///< the newest since the last take, for distribute()

  // What a Request asks.
  virtual const Votes& votes(RequestId request) const = 0;
  virtual bool settled(RequestId request) const = 0;
  virtual void drop(RequestId request) = 0;
  virtual void detach(RequestId request) = 0;

 private:
  friend class Mailbox;
  void distribute();  ///< gives each mailbox what has come on its channels

  std::vector<Mailbox*> mailboxes_;
};

}  // namespace rlock
