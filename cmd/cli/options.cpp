#include "cmd/cli/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace rlock {
namespace {

/// Calls `visit` with each name of "-w, --wait", dashes included.
template <class Visit>
void for_each_name(std::string_view names, Visit visit) {
  while (!names.empty()) {
    const std::size_t comma = names.find(',');
    visit(names.substr(0, comma));
    if (comma == std::string_view::npos) return;
    names.remove_prefix(std::min(names.size(), comma + 2));
  }
}

/// A group has room for this many options from the start; most have no more.
constexpr std::size_t kUsual = 16;

/// `name` is without dashes; a single letter may be from a bundle. Flat, because a start asks this about 150 times.
[[gnu::flatten]] bool has_name(const Option& option, std::string_view name) {
  if (option.names.find(name) == std::string_view::npos) return false;  // most options end here
  const std::size_t dashes = name.size() == 1 ? 1 : 2;
  bool found = false;
  for_each_name(option.names, [&](std::string_view own) {
    found = found || (own.size() == name.size() + dashes && own.ends_with(name) && own[dashes - 1] == '-');
  });
  return found;
}

Milliseconds positive(std::string_view value) {
  const Milliseconds duration = parse_duration(value);
  if (duration == Milliseconds::zero()) throw Error{Error::usage, "must be more than zero"};
  return duration;
}

}  // namespace

VerbSpec& VerbSpec::group(std::string_view title, std::string_view note) {
  groups.push_back({.title = title, .note = note});
  return *this;
}

VerbSpec& VerbSpec::add(Option option) {
  if (groups.empty()) group("Options");
  if (groups.back().options.empty()) groups.back().options.reserve(kUsual);
  groups.back().options.push_back(std::move(option));
  return *this;
}

const Option* VerbSpec::find(std::string_view name) const noexcept {
  for (const Group& group : groups) {
    for (const Option& option : group.options) {
      if (has_name(option, name)) return &option;
    }
  }
  return nullptr;
}

const Option& VerbSpec::option(std::string_view name) const {
  const Option* found = find(name);
  if (found == nullptr) throw Error{Error::internal, fmt::format("no option has the name {}", name)};
  return *found;
}

bool VerbSpec::is_one_of(const Option& option, std::initializer_list<std::string_view> names) const noexcept {
  return std::ranges::any_of(names, [&](std::string_view name) { return find(name) == &option; });
}

std::string OptionDefault::as_written() const {
  const std::string shown = sanitized(value);
  return line == 0 ? fmt::format("{}={}", from, shown)
                   : fmt::format("{} = {} in {} line {}", name, shown, from, line);
}

void OptionDefault::give_to(const Option& option) const {
  try {
    (option.set_default ? option.set_default : option.set)(value);
  } catch (const Error& error) {  // says where the value stands
    throw Error{Error::config, line == 0 ? fmt::format("{}: {}", from, error.what())
                                         : fmt::format("{} line {}: {}: {}", from, line, name, error.what())};
  }
}

const Option& help_option() {
  static const Option option{.names = "-h, --help"};
  return option;
}

const Option& version_option() {
  static const Option option{.names = "-V, --version"};
  return option;
}

NamedOptions named_in(const VerbSpec& spec, std::string_view word) {
  NamedOptions named;
  const auto find = [&](std::string_view name) {
    const Option* option = spec.find(name);
    for (const Option* common : {&help_option(), &version_option()})
      if (option == nullptr && has_name(*common, name)) option = common;
    named.known = option != nullptr;
    if (option != nullptr) named.options.push_back(option);
    if (option != nullptr && !option->value.empty()) named.valued = option;
    return named.known && named.valued == nullptr;  // a bundle may have more letters
  };
  if (word.starts_with("--")) {
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(2, equals - 2);
    if (name.size() > 1) find(name);
    named.before = equals + 1;  // npos + 1 is 0
    named.joined = equals != word.npos || (named.valued != nullptr && !named.valued->alone.empty());
    return named;
  }
  std::size_t letter = 1;
  while (letter < word.size() && find(word.substr(letter++, 1))) continue;
  named.joined = letter < word.size();
  if (named.joined) named.before = letter;
  return named;
}

std::vector<std::string_view> long_names(const Option& option) {
  std::vector<std::string_view> names;
  for_each_name(option.names, [&](std::string_view name) {
    if (name.starts_with("--")) names.push_back(name.substr(2));
  });
  return names;
}

std::string letters(const Option& option) {
  std::string found;
  for_each_name(option.names, [&](std::string_view name) {
    if (name.size() == 2) found += name[1];
  });
  return found;
}

std::string with_value(std::string_view names, std::string_view value, const Option& option) {
  if (option.value.empty()) return std::string{names};
  return fmt::format(fmt::runtime(option.alone.empty() ? "{} {}" : "{}[={}]"), names, value);
}

bool is_documented(const Option& option) { return !option.hidden || !option.manual.empty(); }

Setter into(bool& flag) {
  return [&flag](std::string_view) { flag = true; };
}

Setter into(std::string& text) {
  return [&text](std::string_view value) { text = value; };
}

Setter into(std::optional<std::string>& text) {
  return [&text](std::string_view value) { text = std::string{value}; };
}

Setter path_into(std::string& path, std::string_view what) {
  return [&path, what](std::string_view value) {
    if (value.empty() || value == "-") throw Error{Error::usage, fmt::format("expected {}", what)};
    path = value;
  };
}

Setter into(Milliseconds& duration) {
  return [&duration](std::string_view value) { duration = positive(value); };
}

Setter into(std::optional<Milliseconds>& duration) {
  return [&duration](std::string_view value) { duration = positive(value); };
}

Setter zero_or_more(Milliseconds& duration) {
  return [&duration](std::string_view value) { duration = parse_duration(value); };
}

std::int64_t count_between(std::string_view value, std::int64_t least, std::int64_t most) {
  const auto count = least < 0 ? parse_integer(value) : parse_count(value);
  if (!count || *count < least || *count > most)
    throw Error{Error::usage, fmt::format("expected a whole number from {} to {}", least, most)};
  return *count;
}

Setter choice(std::string& text, std::string_view choices) {
  return [&text, choices](std::string_view value) {
    place_among(choices, value);
    text = value;
  };
}

std::size_t place_among(std::string_view choices, std::string_view word) {
  const auto known = split(choices, ' ');
  const auto found = std::ranges::find(known, word);
  if (found == known.end())
    throw Error{Error::usage, known.size() == 2 ? fmt::format("expected {}", joined(known, " or "))
                                                : fmt::format("expected one of: {}", choices)};
  return static_cast<std::size_t>(found - known.begin());
}

void declare_json(VerbSpec& spec, bool& json, std::string_view help, std::string_view manual) {
  spec.add({.names = "--json", .help = help, .manual = manual, .set = into(json)});
}

}  // namespace rlock
