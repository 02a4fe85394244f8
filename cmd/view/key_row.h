#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync/watch/inspection_steps.h"

namespace rlock {

/// One line about a key, for people. All texts are sanitized; "-" means that there is nothing to print.
struct KeyRow {
  std::string key, type, state, holder, available, held_for, frees, waiting, reason;
};

KeyRow key_row(const Inspection& seen);

/// Is it held, but one of its holders looks dead?
bool is_stale(const Inspection& seen);

/// All words of key_state(), and all those of key_type() that are names of kinds.
constexpr std::string_view kKeyStates = "held kept stale free open closed";
std::string_view key_type_names();

/// "free", "held", ...
std::string_view state_name(Inspection::State state);

/// The name of Inspection::state. It is `stale` instead of `held` if a holder seems to be dead, or its lock
/// never expires.
std::string_view key_state(const Inspection& seen);

/// The name of the kind. For a foreign key its type, in a word of lua/shared/redis/kind_of; "-" if there is
/// no key.
std::string_view key_type(const Inspection& seen);

/// How long the oldest holder has held the key. Empty: the key has no holder, or this is unknown.
std::optional<Milliseconds> key_age(const Inspection& seen);

/// When the key, or the first of its holds, expires unless renewed. Empty: never, or the key does not exist.
std::optional<Milliseconds> key_frees(const Inspection& seen);

/// The keys to show; an empty member accepts all keys.
struct KeyFilter {
  std::vector<std::string> states{}, types{}, hosts{};
  std::optional<Milliseconds> older{};
};
bool passes(const KeyFilter& filter, const Inspection& seen);

/// One inspection of each key, in the order of keys: what agreed() makes of those of several servers.
std::vector<Inspection> one_of_each_key(const std::vector<Inspection>& seen);

/// The order of the lines. With `age` the oldest hold comes first, with `waiting` the most waiters.
enum class KeyOrder { key, age, waiting };
constexpr std::string_view kKeyOrders = "key age waiting";
void sort_keys(std::vector<Inspection>& seen, KeyOrder order);

/// Does a name match one of the patterns (* ? [a-z] \x, as in Redis)? Without patterns, every name matches.
bool matches_any(const std::vector<std::string>& patterns, const std::string& name);

}  // namespace rlock
