#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/names.h"
#include "base/time.h"
#include "redis/message.h"
#include "redis/reply.h"
#include "sync/kinds/busy.h"
#include "sync/kinds/claim.h"
#include "sync/kinds/values.h"

namespace rlock {

/// The line of rlock's waiters beside a lock that is not fair (lua/shared/line/in_turn), as one of them sees it.
///
/// Each waiter listens on a channel of its own, where it is told that it is its turn. The first two listen to
/// the releases of other clients, too: the first asks then, and the second asks a little later, in case that
/// the first is frozen. So a release wakes one waiter, however many there are. All of them hear when a line begins: then
/// the one in which they stood was lost.
class Line {
 public:
  /// Each place has its own time to ask again, up to this.
  static constexpr Milliseconds kSleepsAtMost{120000};

  /// So many at the front listen to the releases of other clients, too.
  static constexpr std::int64_t kListening = 2;

  /// `releases`: where every client announces them.
  Line(const Claim& claim, Channel releases);

  /// See Evidence::waiting.
  std::vector<std::string> waiting() const { return {keys_[1].second, keys_[2].second}; }
  /// What its scripts take: its keys, where waiters are told, and our ticket (--newest).
  Values values() const;
  /// For those that acquire: for how long we have waited, or that we do not wait.
  std::string waited(Milliseconds waited) const;
  const Channel& releases() const noexcept { return releases_; }
  bool queues() const noexcept { return turn_ == Turn::queue; }
  bool exists() const noexcept { return turn_ != Turn::no_places; }

  /// What to listen to in this place.
  std::vector<Channel> channels(const Busy& busy) const;

  /// What a message means to a waiter in this place.
  struct Heard {
    static Heard reason() { return {.ask_after = Milliseconds{0}}; }

    std::optional<Milliseconds> ask_after{};  ///< there is a reason to ask, after so long
    bool not_before{};                        ///< whatever else was heard of the same release
    std::optional<std::int64_t> place{};      ///< we have moved up,
    Milliseconds rest{-1};                    ///< and this is left of the holder's lease; -1: it has no TTL
  };
  Heard hear(const Message& message, const Busy& busy) const;

  /// The same waiter in a new place, told `now`.
  static void move_up(Busy& busy, const Heard& heard, TimePoint now);

 private:
  Channel releases_;
  Channel own_;
  Channel all_;  ///< where a line that begins is announced
  PubSub pub_sub_;
  Turn turn_;
  std::int64_t ticket_;
  Values keys_;
};

/// {busy, retry, rest, place, length, holder}: what an acquire answers where waiters have places.
Busy decode_place(const Reply& reply);

}  // namespace rlock
