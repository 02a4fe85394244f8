#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "cmd/cli/options.h"
#include "sync/calls/claim.h"
#include "sync/calls/kind.h"
#include "sync/calls/lockable.h"

namespace rlock {

/// The options that only some types take.
struct TypeOptions {
  std::optional<Waitable::Pause> backoff;         ///< the pause for polling; empty: the default of the type
  std::optional<std::int64_t> permits;            ///< the size of the pool
  std::int64_t count = 1;                         ///< how many permits to acquire
  std::optional<Milliseconds> fair_wait_timeout;  ///< Redisson's fairLockWaitTimeout; empty: its default
};

/// The parameters of a lock of any kind.
struct LockSpec {
  Claim claim;
  Hold hold = Hold::first;
  bool waits = true;  ///< false: one try, without a place in a queue
  TypeOptions options{};
};

/// A renewal of Redisson sets the TTL of the key to 30 s by default, however long our lease is. If its process dies and
/// we do not renew in time, the key expires, and our hold with it.
constexpr Milliseconds kBesideRedisson{10000};

/// Why permits are busy.
constexpr std::string_view kPermitsAreBusy = "too few of its permits are free, or others wait for them";

/// A type that `run` and `lock acquire` can hold. There is one row for each value of --type
/// (cmd/hold/request/lock_types.cpp). Several types may have the same kind.
struct LockType {
  std::string_view name;               ///< the value of --type: "fair"
  const Kind* kind;                    ///< the kind of the key
  std::string_view flags{};            ///< its switches: "-s, --shared, --read"; empty: only --type
  std::string_view help{};             ///< its line in the help of `run`
  bool polls = false;                  ///< its waiters are not woken
  bool once_per = false;               ///< --once-per works with it
  bool fair_wait = false;              ///< --fair-wait-timeout works with it
  bool bare_owner = false;             ///< the value of its key is the owner id alone
  std::string_view only_one_server{};  ///< why several --url cannot hold it together; empty: they can
  std::string_view only_one_key{};     ///< why one hold has only one key of it; empty: it may have several
  std::string_view only_one_hold{};    ///< why an owner cannot hold it twice; empty: holds are counted
  std::string_view in_order{};         ///< why --newest does not work with it; empty: it works
  /// For types with several holders, why it is busy; empty: there is one holder.
  std::string_view busy_text{};
  Milliseconds renewed_within = kLongest;  ///< the longest renewal interval; other holders may cut the TTL
  std::unique_ptr<Lockable> (*make)(const LockSpec& spec) = nullptr;

  bool is_pool() const noexcept { return kind->is_pool; }
};

std::span<const LockType> lock_types();

/// The type with this name; null: there is none.
const LockType* find_lock_type(std::string_view name);

/// Throws Error{usage} if this many servers cannot hold this type together.
void need_few_servers(const LockType& type, std::size_t servers);

/// The type of a hold whose type nobody named.
const LockType* standard_lock_type();

/// "lock fair fenced ...", for help and completion.
std::string_view lock_type_names();

/// Accepts a type. `typed`: how a message names the option: "-s" (also for --shared), "--type read". Throws
/// Error{usage} if it contradicts another type.
using TakeType = std::function<void(const LockType& type, std::string_view typed)>;

/// Throws Error{usage} if `type` contradicts the type typed before.
void refuse_other_type(const LockType* before, const LockType& type);

/// declare_type_switches() declares -s, -x, --fair and so on; declare_type() declares --type.
void declare_type_switches(VerbSpec& spec, const TakeType& take);
void declare_type(VerbSpec& spec, const TakeType& take);

}  // namespace rlock
