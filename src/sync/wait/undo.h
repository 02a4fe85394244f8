#pragma once

#include <cstddef>
#include <vector>

#include "redis/redis.h"
#include "sync/wait/acquire_options.h"
#include "sync/wait/stage.h"

namespace rlock {

/// Undoes what a wait may have been granted, on every node that may have received a call. It posts the undo
/// calls and waits a little for their replies. The calls then go on in the background.
class Undo {
 public:
  /// `insisted`: if true, await() returns at once. REQUIRES: the Redis outlives it.
  Undo(Redis& redis, Interrupted insisted);

  /// Records that the call of this stage was posted and got these votes.
  void note(Stage& stage, const Votes& votes);

  /// Posts the calls that undo this stage.
  void post(Stage& stage, Wake wake);

  /// Waits for the replies of the nodes that may have received an acquire, until `patience` ends.
  void await(const Patience& patience);

  /// A wait spends at most this long on an undo before it goes on.
  static constexpr Milliseconds kAwait{700};

  /// An undo is retried for this long at a node that does not answer, in the background.
  static constexpr Milliseconds kTryFor{30000};

  /// Are the undos settled (Vote::settled()) at each node that may have received an acquire?
  bool settled() const;

  /// After await(): was every undo answered, and was each call of this identity written only once? Then no
  /// copy of an acquire or an undo is in flight.
  bool certain() const;

  /// The next calls have a new identity, so copies of posted calls cannot harm them. If only the request ids are new,
  /// a late undo could end what the next call acquires. So the next call must leave out closed_nodes().
  void renew_identity(NewIdentity what);

  /// The nodes that have not answered an undo of an owner that stays; empty: there are none. If the undo has
  /// failed at a node, it is sent there again.
  std::vector<bool> closed_nodes();

  /// Lets the calls go on in the background until their deadlines.
  void detach();

  /// Drops the calls. What was written already may still be carried out.
  void drop();

  /// May a copy of an acquire of this identity be in flight?
  bool has_copies_in_flight() const noexcept { return copies_in_flight_; }

 private:
  /// An undo that was posted. If delivery.only_nodes is empty, it goes to all nodes.
  struct Posted {
    Call call;
    Delivery delivery;
    Redis::Request request;
  };

  bool is_answered(const Posted& undo, std::size_t node) const;
  void post_again(Posted& undo);

  Redis& redis_;
  const Interrupted insisted_;
  std::vector<Posted> posted_;
  bool owner_stays_ = false;
  std::vector<bool> received_;  ///< the nodes that may have received an acquire of this wait
  bool copies_in_flight_ = false;
};

}  // namespace rlock
