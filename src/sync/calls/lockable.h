#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/names.h"
#include "base/time.h"
#include "redis/call.h"
#include "redis/failure.h"
#include "redis/reply.h"
#include "sync/calls/busy.h"
#include "sync/calls/line.h"

namespace rlock {

/// The answer is yes: we hold the lock, or what we have waited for is so (a latch is open, keys are free).
struct Held {
  ServerTime server_time{};             ///< time of the acquire
  std::optional<std::int64_t> fence{};  ///< fencing token of this hold
  std::int64_t ticket = 0;              ///< of an Arrival; 0: none
  std::vector<std::int64_t> slots{};    ///< slots of the acquired permits
  std::vector<std::string> permits{};   ///< ids of the acquired permits, 16 bytes each
  std::vector<Held> members{};          ///< of several keys acquired together, the answer for each
};

/// It cannot be acquired, and waiting would not help. For example, the key holds another type (exit 65), there is
/// no pool (exit 1), or a newer waiter has come (--newest).
struct Refused {
  enum class Why { wrong_type, absent, upgrade, superseded } why = Why::wrong_type;
  std::string text{};  ///< for a person: what the key holds, and the remedy
  LockName key{};      ///< which key it is, of several; empty: the one that was asked for
};

/// The meaning of a reply to an acquire. Failure: an error reply, or one that cannot be read. Then the server
/// has failed, and nothing is known about the lock.
using AcquireAnswer = std::variant<Held, Busy, Refused, Failure>;

/// Whether a release publishes a wake-up. `nobody`: the caller asks again at once.
enum class Wake { waiters, nobody };

/// Further instructions for a release.
struct ReleaseOptions {
  /// --min-hold, --once-per: the key stays until then.
  std::optional<ServerTime> keep_until{};

  Wake wake = Wake::waiters;
};

/// What a release came to at one node; of all nodes: ReleaseResult.
struct Released {
  enum class How {
    yes,         ///< the lock is free now
    still_held,  ///< another hold of the same owner goes on, or others share this one
    kept,        ///< the key stays for a while, as keep_until demanded
    not_ours,    ///< this owner had no hold there
  } how = How::yes;
  Milliseconds rest{0};       ///< kept: how long the key stays
  std::string unannounced{};  ///< why waiters could not be told; else empty

  /// A second call, which must be sent and whose answer must be read. If inner holds of the same owner remain, it
  /// counts down our hold. The first call did not have the keys for that.
  std::optional<Call> then{};
};

/// The meaning of a reply to a release. Failure as in AcquireAnswer: the server has confirmed nothing.
using ReleaseAnswer = std::variant<Released, Failure>;

/// The meaning of a reply to a renewal. Failure as in AcquireAnswer: nothing is known about the hold.
struct Renewed {};
struct NotOurs {};
using RenewAnswer = std::variant<Renewed, NotOurs, Failure>;

/// Where an observer sees that we hold: a field of a hash, the value of a string, or the owner of a permit
/// (lua/shared/hold/holds_by). `waiting` names two hashes in which our owner is a field while we wait (`alive`,
/// `waits`); the second has our description of ourselves. If `waiting` is empty, our wait is not recorded.
struct HoldEntry {
  std::string key;
  std::string member;
  Values waiting{};
};

/// How to ask for something, what the answers mean, and which channels may wake us. It does no I/O and has no
/// clock. Every call may be sent twice: the second copy counts nothing again.
class Waitable {
 public:
  virtual ~Waitable() = default;

  /// `waited`: how long we have waited; it decides our place among the waiters.
  Call ask(Milliseconds waited = Milliseconds{0}) const { return encode(waited); }
  [[nodiscard]] AcquireAnswer read(const Reply& reply) const noexcept;

  /// The call that undoes ask(), whatever its answer was: it releases what was acquired, and gives up a place
  /// among the waiters. Empty: nothing can be undone. In a fair queue the undo wakes the head even with
  /// Wake::nobody, because the queue could be stuck otherwise.
  virtual std::optional<Call> undo(Wake wake) const = 0;

  /// Must ask() be undone even if the answer was busy? It may have left a trace, such as a place in a line or queue.
  virtual bool takes_place() const { return false; }

  /// The channels on which releases are announced. Empty: releases are not announced, and waiters poll with
  /// pause().
  virtual std::vector<Channel> channels() const = 0;

  /// Our line if the reply gave us a place in it. Null: we have none, and listen on channels().
  virtual const Line* line(const Busy&) const { return nullptr; }

  /// What a message on one of our channels means to a waiter that got this `busy` answer.
  virtual Line::Notice read_notice(const Message& message, const Busy& busy) const {
    const Line* const in = line(busy);
    return in != nullptr ? in->read_notice(message, busy) : Line::Notice::reason();
  }

  /// The pause between two tries if no announcement can wake us. It doubles from `least` to `most`.
  struct Pause {
    Milliseconds least{0}, most{0};
  };
  virtual Pause pause() const { return {Milliseconds{10}, Milliseconds{500}}; }

  /// A waiter that is in no line sleeps about this long at most, because messages get lost and people delete
  /// locks by hand.
  virtual Milliseconds poll_every() const { return Milliseconds{2000}; }

  /// The owner that asks. Null: no owner asks.
  virtual const Owner* asker() const { return nullptr; }

  /// Its name for people: the key, or the first of several.
  virtual const LockName& name() const = 0;

 protected:
  /// Makes the call for ask().
  virtual Call encode(Milliseconds waited) const = 0;

  /// Reads a reply that is no error, for read(). Throws Error if the reply has another shape.
  virtual AcquireAnswer decode(const Reply& reply) const = 0;
};

/// A Waitable that can be renewed and released.
class Lockable : public Waitable {
 public:
  virtual const Owner& owner() const = 0;
  const Owner* asker() const override { return &owner(); }

  virtual Call renew() const = 0;

  /// Asks whether the hold is still ours, and changes nothing. `rest`: what is left of its lease by our clock, at
  /// least 1 ms. The answer is that of a renewal.
  virtual Call still_ours(Milliseconds rest) const = 0;

  [[nodiscard]] RenewAnswer read_renewal(const Reply& reply) const noexcept;

  virtual Call release(const ReleaseOptions& options) const = 0;
  [[nodiscard]] ReleaseAnswer read_release(const Reply& reply) const noexcept;

  /// Something with an owner is undone by a release, unless its class has a better way.
  std::optional<Call> undo(Wake wake) const override { return release({.keep_until = {}, .wake = wake}); }

  virtual HoldEntry hold_entry() const = 0;

 protected:
  /// Reads a reply that is no error, for read_release(). Throws Error if the reply has another shape.
  virtual Released decode_release(const Reply& reply) const = 0;
};

}  // namespace rlock
