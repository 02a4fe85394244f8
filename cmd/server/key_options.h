#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "cmd/cli/options.h"

namespace rlock {

/// The setter for a KEY as typed. It throws Error{usage} if the key is empty or too long.
Setter key_into(std::vector<std::string>& keys);
Setter key_into(std::string& key);

/// Declares KEY as the first argument, or by -k.
void declare_key(VerbSpec& spec, std::string& key, Offer offer = Offer::key);

/// Like declare_key(), for at least one key. declare_counters(): for keys that hold a number; there may be none.
void declare_keys(VerbSpec& spec, std::vector<std::string>& keys);
void declare_counters(VerbSpec& spec, std::vector<std::string>& keys);

/// Declares --owner ID, or an option of another name that takes an owner.
void declare_owner(VerbSpec& spec, std::optional<Owner>& owner, std::string_view help,
                   std::string_view manual = {}, std::string_view names = "--owner");

/// Parses an owner: 1 to 256 printable ASCII characters without blanks, and no field name that Redisson keeps
/// beside owners. Throws Error{usage}.
Owner parse_owner(std::string_view text);

}  // namespace rlock
