#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync/watch/inspection_steps.h"

namespace rlock {

/// What one line says of a key, for people. Everything is sanitized; "-": nothing to say.
struct KeyRow {
  std::string key, type, state, holder, available, held_for, frees, waiting, reason;
};

KeyRow key_row(const Inspection& seen);

/// The words of key_state(), and of key_type(): the name of each kind.
constexpr std::string_view kKeyStates = "held kept stale free open closed";
std::string_view key_type_names();

/// As Inspection::state, and `stale`: one of its holders is dead as far as can be told, or never frees it.
std::string_view key_state(const Inspection& seen);

/// The kind, or what stands there instead; as it came from the server.
std::string_view key_type(const Inspection& seen);

/// For how long somebody has had it: the one who has had it longest. Nothing: nobody has it, or can tell.
std::optional<Milliseconds> key_age(const Inspection& seen);

/// When the key ends, or the next hold of it, unless somebody renews. Nothing: never, or nobody holds it.
std::optional<Milliseconds> key_frees(const Inspection& seen);

/// Which keys are shown; what is empty lets all pass.
struct KeyFilter {
  std::vector<std::string> states{}, types{}, hosts{};
  std::optional<Milliseconds> older{};
};
bool passes(const KeyFilter& filter, const Inspection& seen);

/// Of each key what agreed() takes from the servers that see it, in the order of keys.
std::vector<Inspection> one_of_each_key(const std::vector<Inspection>& seen);

/// By what lines are sorted, what needs a look first: the oldest hold, the most waiters.
enum class KeyOrder { key, age, waiting };
constexpr std::string_view kKeyOrders = "key age waiting";
KeyOrder key_order(std::string_view word);
void sort_keys(std::vector<Inspection>& seen, KeyOrder order);

/// Does a name match one of the patterns (* ? [a-z] \x, as Redis has them)? All do where there are none.
bool matches_any(const std::vector<std::string>& patterns, const std::string& name);

}  // namespace rlock
