#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "loop/loop.h"
#include "redis/failure.h"
#include "redis/mailbox.h"
#include "sync/calls/lockable.h"
#include "sync/wait/acquire_request.h"
#include "sync/wait/ballot.h"
#include "sync/wait/replicas.h"

namespace rlock {

/// What the next round must have anew, because an undone round has used the old one.
enum class NewIdentity {
  requests,  ///< only the request ids: the undo was answered, and the owner keeps its places
  /// The owner too: a copy of the acquire or the undo may be in flight. An owner that the user named stays.
  owner,
};

/// Why a wait ended without the lock.
struct GaveUp {
  enum class Why {
    busy,         ///< a quorum answered during this wait, and another owner had it
    unreachable,  ///< see `failure`: for example, no quorum answered, or the grant came too late
    interrupted,  ///< the patience was interrupted
    refused,      ///< see `refused`
  } why = Why::busy;
  std::optional<Refused> refused;  ///< with its key
  std::optional<Failure> failure;  ///< unreachable: the failure of the last round that was not cut short
  std::optional<Busy> busy;        ///< the last "busy" answer, with its key
  std::vector<Answer> answers{};   ///< the answer of each node in the last round
  bool seen_busy = false;          ///< some node answered "busy" during this wait
};

/// An acquire that succeeded. The lease runs from `asked`.
struct Acquired {
  TimePoint asked;              ///< the time before the first call was written
  std::vector<Held> held;       ///< one answer for each part
  std::vector<Answer> answers;  ///< one answer for each node; granted: the node granted every part
  /// Still listens to what the wait listened to: UNSUBSCRIBE would cost a request now, and later it goes with another
  /// call. Null: nothing listens.
  std::shared_ptr<Mailbox> mailbox{};
};

using AcquireResult = std::variant<Acquired, GaveUp>;

/// The state of a wait, for wait lines.
struct Waiting {
  const Busy* busy = nullptr;        ///< the last "busy" answer, with its key; null: the last round has none
  const Failure* failure = nullptr;  ///< why the server cannot be used now; null: it can
  const Waitable& what;              ///< the thing that was asked for
  bool unconfirmed = false;          ///< it was granted, and now replicas must confirm it
};

struct AcquireOptions {
  /// Makes the same request with a new identity, so that an undo in flight cannot cancel the new round. It
  /// has as many parts, in the same order. Empty: the wait asks one server for one thing, or for something that has no
  /// undo.
  std::function<AcquireRequest(NewIdentity)> renew_identity;

  Patience patience;  ///< if it has ended from the start, there is a single round within round_timeout
  /// How long a server that cannot be used is asked again. `first_contact` counts until a round ends with "busy", which
  /// shows that the servers can be used. Then `outage` counts. The patience may end sooner.
  Milliseconds first_contact = kLongest;
  Milliseconds outage = kLongest;
  Milliseconds round_timeout{4000};  ///< of one server: how long it may be silent before report() says so
  Milliseconds node_timeout{2000};   ///< of several nodes: how long one may delay a round
  Milliseconds call_timeout{2000};   ///< a connection counts as lost if a call gets no answer for this long
  Milliseconds good_for = kLongest;  ///< of a lease: a later grant is undone, as too little of it is left
  SyncReplicas sync_replicas{};
  /// Runs `work`, the rest of the undo, in another process (finish_behind()), so that the end of a wait does
  /// not wait for a server. Empty: the wait spends some hundred milliseconds on it.
  std::function<bool(const std::function<void()>& work)> behind;
  std::function<bool()> insisted = [] { return false; };  ///< true: do not even await the undos
  /// Called before each sleep, and before each wait for replicas.
  std::function<void(const Waiting&)> report = [](const Waiting&) {};
};

}  // namespace rlock
