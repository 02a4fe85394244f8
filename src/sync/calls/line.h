#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/names.h"
#include "base/time.h"
#include "redis/message.h"
#include "redis/reply.h"
#include "sync/calls/busy.h"
#include "sync/calls/claim.h"
#include "sync/calls/values.h"

namespace rlock {

/// The line of rlock's waiters beside a lock that is not fair (lua/shared/line/in_turn), as one waiter sees
/// it.
///
/// Each waiter listens to a channel of its own, on which it is told when its turn comes. The first two also
/// listen to the releases of other clients. After such a release, the first asks at once, and the second a
/// little later, in case the first is frozen. So a release does not wake all waiters, however long the line
/// is. When a new line begins, all waiters are told, because the line in which they stood was lost.
class Line {
 public:
  /// A waiter asks again after a time that grows with its place, up to this (lua/shared/line/alive_until).
  static constexpr Milliseconds kSleepsAtMost{120000};

  /// This many waiters at the front also listen to the releases of other clients.
  static constexpr std::int64_t kListening = 2;

  /// `releases`: the channel on which every client announces releases.
  Line(const Claim& claim, Channel releases);

  /// See HoldEntry::waiting.
  Values waiting() const;
  /// The values for the scripts: the keys of the line, the channel of releases, and our ticket (--newest).
  Values values() const;
  /// The argument of an acquire: how long we have waited in milliseconds, or "-1" if we take no place.
  std::string waited(Milliseconds waited) const;
  const Channel& releases() const noexcept { return releases_; }
  bool takes_place() const noexcept { return if_busy_ == IfBusy::place; }
  bool exists() const noexcept { return if_busy_ != IfBusy::no_places; }

  /// The channels to which a waiter in this place listens.
  std::vector<Channel> channels(const Busy& busy) const;

  /// What a message means to a waiter in this place.
  struct Notice {
    static Notice reason() { return {.ask_after = Milliseconds{0}}; }

    /// Ask again after this time; empty: the message is no reason to ask.
    std::optional<Milliseconds> ask_after{};
    bool not_before{};  ///< no other message makes us ask before `ask_after`: it may tell of the same release
    std::optional<std::int64_t> place{};  ///< our new place in the line
    /// With `place`: the rest of the holder's lease; -1: it has no TTL.
    Milliseconds rest{-1};
  };
  Notice read_notice(const Message& message, const Busy& busy) const;

  /// After a failover thousands of waiters want to ask again. Each waits this long, so that the waiters
  /// before it can ask first; the first two ask at once.
  static Milliseconds pause_behind_others(const Busy& busy);

  /// The time after which a waiter in this place asks again, if no message and no end of a lease is earlier.
  static Milliseconds pace(const Busy& busy);

  /// Moves a waiter to its new place. `now`: when it was told.
  static void move_up(Busy& busy, const Notice& notice, TimePoint now);

 private:
  Channel releases_;
  Channel own_;
  Channel all_;  ///< the channel that announces the beginning of a line
  PubSub pub_sub_;
  IfBusy if_busy_;
  std::int64_t ticket_;
  Values keys_;
};

/// Decodes {busy, retry, rest, place, length, holder}: the answer to an acquire where waiters have places.
Busy decode_place(const Reply& reply);

}  // namespace rlock
