#include "cmd/server/key_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cmd/server/deployment.h"
#include "sync/calls/keys.h"

namespace rlock {

namespace {

constexpr std::size_t kMostCharacters = 256;

/// Declares KEY as an operand, and -k, which may replace it.
void declare(VerbSpec& spec, Operand key) {
  key.name = "KEY";
  key.instead = "key";
  key.no_dash = true;
  spec.add({.names = "-k, --key",
            .value = "KEY",
            .offer = key.offer,
            .hidden = true,
            .no_dash = true,
            .set = key.set});
  spec.operands.push_back(std::move(key));
}

}  // namespace

Setter key_into(std::vector<std::string>& keys) {
  return [&keys](std::string_view value) {
    check_key(value);
    keys.emplace_back(value);
  };
}

Setter key_into(std::string& key) {
  return [&key](std::string_view value) {
    check_key(value);
    // The user would think that both keys are locked.
    if (!key.empty())
      throw Error{Error::usage,
                  fmt::format("this verb takes one KEY, and {} is its KEY already", in_quotes(key))};
    key = value;
  };
}

void declare_key(VerbSpec& spec, std::string& key, Offer offer) {
  declare(spec, {.offer = offer, .set = key_into(key)});
}

void declare_keys(VerbSpec& spec, std::vector<std::string>& keys) {
  declare(spec, {.offer = Offer::key, .many = true, .set = key_into(keys)});
}

void declare_counters(VerbSpec& spec, std::vector<std::string>& keys) {
  declare(spec, {.offer = Offer::counter, .optional = true, .many = true, .set = key_into(keys)});
}

void declare_owner(VerbSpec& spec, std::optional<Owner>& owner, std::string_view help,
                   std::string_view manual, std::string_view names) {
  spec.add({.names = names,
            .value = "ID",
            .help = help,
            .manual = manual,
            .offer = Offer::owner,
            .set = [&owner](std::string_view text) { owner = parse_owner(text); }});
}

Owner parse_owner(std::string_view text) {
  if (text.empty() || text.size() > kMostCharacters)
    throw Error{Error::usage, fmt::format("an owner id has 1 to {} characters", kMostCharacters)};
  if (!std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; }))
    throw Error{Error::usage, "an owner id has printable characters of ASCII and no blanks"};
  // In Redisson's hashes, such fields stand beside the owners, or mean that an owner writes.
  if (text == "mode" || text.ends_with(":expire_time") || text.ends_with(kWriteSuffix))
    throw Error{Error::usage, "Redisson uses this name itself"};
  return Owner{std::string{text}};
}

}  // namespace rlock
