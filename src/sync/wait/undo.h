#pragma once

#include <vector>

#include "redis/redis.h"
#include "sync/wait/stage.h"

namespace rlock {

/// Undoes what a wait may have been granted, on every node that may have received it: posts the calls, waits
/// a little for their replies, and goes on with them while the wait does something else.
class Undo {
 public:
  /// `hurried`: ends waiting for replies. REQUIRES: the Redis outlives it.
  Undo(Redis& redis, Interrupted hurried);

  /// The call of this stage was posted, and these are its votes.
  void note(Stage& stage, const Votes& votes);

  /// Posts what undoes this stage.
  void post(Stage& stage, Wake wake);

  /// Waits for the replies of the nodes that may have received an acquire: until `patience`
  /// ends.
  void await(const Patience& patience);

  /// Some hundred milliseconds: the most that a wait spends on an undo before it does something else.
  static constexpr Milliseconds kAwait{700};

  /// How long a call is tried again at a node that does not answer, while we do something else.
  static constexpr Milliseconds kTryFor{30000};

  /// Has each of those nodes answered?
  bool answered() const;

  /// After await(): has every undo been answered, and was each call of this identity written only once? Then
  /// no copy of an acquire or an undo is still in flight.
  bool certain() const;

  /// The next calls have a new identity: copies of what was posted before cannot harm them. `owner_stays`: only the request is
  /// new, so an undo that is carried out late would delete what the next call takes: closed_nodes() must not be asked.
  void renew_identity(bool owner_stays);

  /// Nodes that have not answered an undo of an owner who stays; empty: none. To those where it has failed it goes once more.
  std::vector<bool> closed_nodes();

  /// The calls go on to their deadline in the background.
  void detach();

  /// Forgets the calls. What is on the wire stays there.
  void drop();

  /// May a copy of an acquire of this identity still be in flight?
  bool has_copies_in_flight() const noexcept { return copies_in_flight_; }

 private:
  /// An undo, and to which nodes it goes (empty: all).
  struct Posted {
    Call call;
    Delivery delivery;
    Redis::Request request;
  };

  bool is_answered(const Posted& undo, std::size_t node) const;
  void post_again(Posted& undo);

  Redis& redis_;
  const Interrupted hurried_;
  std::vector<Posted> posted_;
  bool owner_stays_ = false;
  std::vector<bool> received_;  ///< nodes that may have received any acquire of this wait
  bool copies_in_flight_ = false;
};

}  // namespace rlock
