#pragma once

#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "loop/loop.h"
#include "redis/failure.h"
#include "sync/kinds/lockable.h"
#include "sync/wait/ballot.h"
#include "sync/wait/wish.h"

namespace rlock {

/// What the next attempt must not share with one that was undone.
enum class NewIdentity {
  requests,  ///< the undo was answered; the owner keeps its places in queues
  owner,     ///< the undo, or a copy of what it undoes, may be in flight; an owner that the user named stays
};

/// Why a wait ended without the lock.
struct GaveUp {
  enum class Why {
    busy,         ///< a quorum answered during this wait, and somebody had it
    unreachable,  ///< no server, no quorum, no replicas, or granted too late
    interrupted,  ///< the patience was interrupted
    refused,      ///< see `refused`
  } why = Why::busy;
  std::optional<Refused> refused;
  std::size_t part = 0;            ///< blocked the last round; of parts asked for together, the first
  std::optional<Failure> failure;  ///< unreachable: what it looked like last
  std::optional<Busy> busy;        ///< what it looked like last
  std::vector<Answer> answers{};   ///< of each node, in the last round
  bool heard_busy = false;         ///< some node has said during this wait that somebody has it
};

/// It is ours, and from when on the lease runs.
struct Taken {
  TimePoint asked;              ///< before the first call was written
  std::vector<Held> held;       ///< one for each part
  std::vector<Answer> answers;  ///< of each node; granted: every part
};

using Acquired = std::variant<Taken, GaveUp>;

/// What a waiter sees while it waits, for wait lines.
struct Waiting {
  const Busy* busy = nullptr;        ///< nothing while no server has answered
  const Failure* failure = nullptr;  ///< the server does not answer now, and why
  std::size_t part = 0;              ///< which of the parts is busy
  const Waitable* what = nullptr;    ///< what was asked for
};

struct AcquireOptions {
  /// The same wish with a new identity, so that an undo still in flight cannot cancel the new attempt.
  /// Nothing: what is asked for has no owner.
  std::function<Wish(NewIdentity)> renew_identity;

  Patience patience;  ///< one that has ended from the start makes a single attempt, within attempt_timeout
  /// How long a server that cannot be used is asked again: until its first answer that is of use (granted or
  /// busy), and in an outage after that. The patience may end sooner.
  Milliseconds first_contact = kLongest;
  Milliseconds outage = kLongest;
  Milliseconds attempt_timeout{
      4000};                         ///< of one server: also how long it is silent before tell() hears of it
  Milliseconds node_timeout{2000};   ///< of several nodes: how long one may hold up a round
  Milliseconds good_for = kLongest;  ///< of a lease: what was granted later is undone
  int sync_replicas = 0;             ///< an acquire counts only when so many replicas have it
  Milliseconds sync_timeout{1000};
  /// Does what it is given in another process (finish_behind()), so that the end of a wait waits for no
  /// server. Nothing: some hundred milliseconds are spent on it.
  std::function<bool(const std::function<void()>& work)> behind;
  std::function<bool()> hurried = [] { return false; };  ///< ends waiting for undos too, confirmed or not
  std::function<void(const Waiting&)> tell = [](const Waiting&) {};  ///< before each sleep
};

}  // namespace rlock
