#pragma once

#include <string_view>

#include "base/names.h"

namespace rlock {

/// A synchronizer as it is found under a key: a row of the table of kinds, with names and facts.
/// kind_actions.h says what can be done with a key of each kind.
struct Kind {
  /// How the key stores its holders.
  enum class Layout {
    owners,               ///< a hash: owner -> number of holds
    readers_and_writers,  ///< like `owners`, and a mode; a writer's field is owner:write
    token,                ///< a string: the owner
    number,               ///< a number of permits or counts; it does not name the holders
  };

  /// What beside the key shows that it is this kind, and not the plainest one that is stored like it.
  enum class Sign {
    none,     ///< nothing: it is the plainest one
    token,    ///< a fencing token, which outlives the lock
    queue,    ///< a queue of waiters
    permits,  ///< permits that are taken
    record,   ///< rlock's record of a latch, which outlives the latch
  };

  /// Which of the waiters with a place also listen on `channel`. `first`: the first ones, Line::kListening of them.
  enum class Listeners { first, none, all };

  std::string_view name;  ///< in JSON and in text: "read-write"
  std::string_view noun;  ///< "a read/write lock"
  /// The word of lua/shared/redis/kind_of for this kind, and for all kinds that are stored like it.
  std::string_view stored_as;
  Layout layout;
  Sign shown_by = Sign::none;
  Listeners listeners = Listeners::first;
  bool is_pool = false;  ///< several owners hold it at once: each has taken permits, usually with a lease
  std::string_view as_stored{};  ///< for people, if only `stored_as` is known; empty: use the noun
  std::string_view as_found{};   ///< for people, if the key was inspected; empty: use the noun
  std::string_view remedy{};  ///< for refusals: how to acquire this kind instead; empty: they do not say it

  /// The plainer kind for which this one is taken if no other key stands beside it. Null: there is none.
  const Kind* like = nullptr;

  /// The channel of its releases. Null: its releases are not announced.
  Channel (*channel)(const LockName& name) = nullptr;

  /// The plainest kind that looks like this one.
  const Kind& plainest() const noexcept { return like != nullptr ? *like : *this; }
};

namespace kinds {

/// All kinds. Of kinds that are stored alike, the plainest comes first.
extern const Kind all[8];

// kind.cpp checks that each name is that of its row.
inline constexpr const Kind &lock = all[0], &fair = all[1], &fenced = all[2], &read_write = all[3],
                            &plain = all[4], &semaphore = all[5], &permit = all[6], &latch = all[7];

}  // namespace kinds

/// The kind of a key that looks like `kind` (null: there is no key) and has `sign` beside it. It is `kind` itself if
/// another sign has shown that one, or if no kind that is stored so has this sign.
const Kind* refined(const Kind* kind, Kind::Sign sign);

/// The kind for a word of lua/shared/redis/kind_of; the plainest, if several kinds have this word. Null: rlock
/// does not know the word.
const Kind* kind_stored_as(std::string_view word);

}  // namespace rlock
