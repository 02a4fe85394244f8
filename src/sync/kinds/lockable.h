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
#include "sync/kinds/busy.h"
#include "sync/kinds/line.h"

namespace rlock {

/// It is ours.
struct Held {
  Milliseconds server_time{0};          ///< of the acquire, since the epoch, by the server's clock
  std::optional<std::int64_t> fence{};  ///< of this hold
  std::vector<std::int64_t> slots{};    ///< of permits
  std::vector<std::string> permits{};   ///< their ids, 16 bytes each
  std::vector<Held> members{};          ///< of several keys that were taken together: each one's
};

/// It cannot be had, now or by waiting: another type under
/// the key (65), nothing there to take from (exit 1), a newer one has come (--newest), ...
struct Refused {
  enum class Why { wrong_type, absent, upgrade, superseded } why = Why::wrong_type;
  std::string text{};  ///< for a person: what stands there, and the remedy
};

/// What a reply to an acquire means. Failure: an error reply, or one that cannot be read. It is the failure
/// of the server that gave it, not of the lock.
using Attempt = std::variant<Held, Busy, Refused, Failure>;

/// How the server is to tell this release, and copies of it
/// that come late, from those of other holds of the same owner.
enum class Way {
  first,  ///< no later hold has this owner: a late copy may free what a late copy of the acquire has taken
  again,  ///< the owner may take the lock again, which a late copy must not free
  undo,   ///< of an acquire: nothing happens unless that very request has taken it
};

/// Whether whoever waits for what becomes free is told. Nobody: it will be asked for again at once.
enum class Wake { waiters, nobody };

/// What a release is asked to do besides.
struct ReleaseOptions {
  /// --min-hold: server time since the epoch before which the key stays.
  std::optional<Milliseconds> keep_until{};

  Wake wake = Wake::waiters;
};

struct Released {
  enum class How {
    yes,           ///< free now
    still_held,    ///< an outer hold of the same owner remains
    kept,          ///< stays for the rest of --min-hold
    was_not_ours,  ///< nothing of ours was there
  } how = How::yes;
  Milliseconds rest{0};       ///< kept: how long still
  std::string unannounced{};  ///< why waiters could not be told; empty when they were

  /// It takes a second call, which needs keys that only now are known, or that the ordinary release does
  /// without: send it and read its answer. Inner holds of the same owner remain, and ours is to be counted
  /// down; or other readers do, and somebody has to see which of them live.
  std::optional<Call> then{};
};

/// What a reply to a release means; Failure as in Attempt: the server has confirmed nothing.
using ReleaseAnswer = std::variant<Released, Failure>;

/// What a reply to a renewal means; Failure as in Attempt: nothing is known about the hold.
struct Renewed {};
struct NotOurs {};
using RenewAnswer = std::variant<Renewed, NotOurs, Failure>;

/// Where an observer sees that we hold: a field of a hash, a member of a sorted set, or the value of a
/// string. `waiting`: and that we wait: our owner is a field of the first hash, what we say of ourselves
/// stands in the second; empty: that is written nowhere.
struct Evidence {
  std::string key;
  std::string member;
  std::vector<std::string> waiting{};
};

/// How to ask for something, what the answers mean, and which
/// channels may wake us. Does no I/O and knows no time.
/// Every call may be sent twice: the second time it changes nothing and answers the same.
class Waitable {
 public:
  virtual ~Waitable() = default;

  /// `waited`: for how long, which decides the place among those who wait.
  virtual Call ask(Milliseconds waited) const = 0;
  Call ask() const { return ask(Milliseconds{0}); }
  [[nodiscard]] Attempt read(const Reply& reply) const noexcept;

  /// Undoes ask(), whatever became of it; changes nothing when it came to nothing. Nothing: asking leaves no
  /// trace. Waiters are woken even with Wake::nobody where they could not go on otherwise (a fair queue).
  virtual std::optional<Call> undo(Wake wake) const = 0;

  /// Does asking leave a trace even when the answer is "busy" (a place in a queue)?
  virtual bool queues() const { return false; }

  /// Where a release is announced. Empty: nothing announces it, waiters poll with pause().
  virtual std::vector<Channel> channels() const = 0;

  /// The line in which we wait, where that was said; nothing: there is none, everybody is told by channels().
  virtual const Line* line(const Busy&) const { return nullptr; }

  /// What a message on a channel of ours means to us, who were told that it is busy.
  virtual Line::Heard hear(const Message& message, const Busy& busy) const {
    const Line* const in = line(busy);
    return in != nullptr ? in->hear(message, busy) : Line::Heard::reason();
  }

  /// Between two tries where nothing wakes us: doubles from `least` to `most`.
  struct Pause {
    Milliseconds least{0}, most{0};
  };
  virtual Pause pause() const { return {Milliseconds{10}, Milliseconds{500}}; }

  /// How long a waiter that is told by announcements sleeps
  /// at most: they get lost, and locks are deleted by hand.
  virtual Milliseconds poll_every() const { return Milliseconds{2000}; }

  /// Who asks; nothing: nobody in particular.
  virtual const Owner* asker() const { return nullptr; }

  /// What people call it: the key, or the keys.
  virtual const LockName& name() const = 0;

 protected:
  /// read() of a reply that is no error. Throws Error where it is out of shape.
  virtual Attempt decode(const Reply& reply) const = 0;
};

/// A Waitable that can be kept and released.
class Lockable : public Waitable {
 public:
  virtual const Owner& owner() const = 0;
  const Owner* asker() const override { return &owner(); }

  virtual Call renew() const = 0;

  [[nodiscard]] RenewAnswer read_renewal(const Reply& reply) const noexcept;

  virtual Call release(const ReleaseOptions& options) const = 0;
  [[nodiscard]] ReleaseAnswer read_release(const Reply& reply) const noexcept;

  /// Releasing is undoing, for everything with an owner.
  std::optional<Call> undo(Wake wake) const override { return release({.keep_until = {}, .wake = wake}); }

  virtual Evidence evidence() const = 0;

 protected:
  /// read_release() of a reply that is no error. Throws Error where it is out of shape.
  virtual Released decode_release(const Reply& reply) const = 0;
};

}  // namespace rlock
