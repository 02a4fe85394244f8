#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "cmd/cli/options.h"
#include "sync/kinds/claim.h"
#include "sync/kinds/kind.h"
#include "sync/kinds/lockable.h"

namespace rlock {

/// What a lock is made from, whatever its kind.
struct Wanted {
  Claim claim;
  bool again = false;                             ///< one more hold of an owner who has it already
  bool waits = true;                              ///< false: one try, which takes no place in a queue
  std::optional<Waitable::Pause> backoff;         ///< where nothing wakes a waiter
  std::optional<std::int64_t> permits;            ///< the size of the pool
  std::int64_t count = 1;                         ///< how many permits to take
  std::optional<Milliseconds> fair_wait_timeout;  ///< of a fair lock, where it is not Redisson's default
};

/// A kind of thing that `run` and `lock acquire` can hold.
/// One row for each value of --type (cmd/run/lock_types.cpp); several may have one kind.
struct LockType {
  std::string_view name;               ///< as --type takes it: "fair"
  const Kind* kind;                    ///< what then stands under the key
  std::string_view flags;              ///< how people type it: "-s, --shared, --read"; empty: only by --type
  std::string_view help;               ///< its line on the screen of `run`
  bool polls = false;                  ///< nothing wakes its waiters
  std::string_view only_one_server{};  ///< why several --url cannot hold it together; empty: they can
  std::string_view only_one_key{};     ///< why `run` takes no second key of it; empty: it does
  std::string_view only_one_hold{};    ///< why an owner cannot hold it twice; empty: holds are counted
  std::string_view in_order{};         ///< why --newest is not for its waiters; empty: it is
  std::string_view busy_text{};  ///< of what many hold together: why it cannot be had; empty: one has it
  Milliseconds renewed_within = kLongest;  ///< whatever the lease: others who hold it too may cut its TTL
  std::unique_ptr<Lockable> (*make)(const Wanted& wanted) = nullptr;
};

std::span<const LockType> lock_types();

/// Nothing if there is no such type.
const LockType* find_lock_type(std::string_view name);

/// Throws Error{usage} when a lock of this kind cannot be held on so many servers together.
void need_few_servers(const LockType& type, std::size_t servers);

/// "lock fair fenced ...", for help and completion.
std::string_view lock_type_names();

/// Takes a type as somebody has typed it: "-s", "--type read".
/// Throws Error{usage} where it contradicts another one.
using TakeType = std::function<void(const LockType& type, std::string_view typed)>;

/// What contradicts what was typed before. Throws Error{usage}.
void refuse_other_type(const LockType* before, const LockType& type);

/// -s, -x, --fair and whatever else stands for a type; --type itself.
void declare_type_switches(VerbSpec& spec, const TakeType& take);
void declare_type(VerbSpec& spec, const TakeType& take);

}  // namespace rlock
