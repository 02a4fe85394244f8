#include "cmd/view/key_row.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>

#include "base/key_text.h"
#include "base/text.h"
#include "cmd/view/holder_text.h"

namespace rlock {
namespace {

using State = Inspection::State;

constexpr std::string_view kNothing = "-";

/// The count of a latch, which a narrow terminal must not cut, then the holders of the key.
std::string holder_column(const Inspection& seen) {
  std::string text = seen.holders.empty() ? "" : holder_cell(seen.holders.front());
  const std::int64_t more = static_cast<std::int64_t>(seen.holders.size()) + seen.unnamed - 1;
  if (more > 0) text += fmt::format(" and {} more", more);
  if (seen.count && seen.state == State::closed)
    text = fmt::format("{} to go{}{}", *seen.count, text.empty() ? "" : ": ", text);
  return text.empty() ? std::string{kNothing} : text;
}

/// For semaphores and pools: the number of available permits and, if known, the total: "3/5". The number is 0
/// if more permits are taken than the pool has by now.
std::string available_column(const Inspection& seen) {
  if (!seen.available) return std::string{kNothing};
  const std::int64_t available = std::max<std::int64_t>(*seen.available, 0);
  return seen.total ? fmt::format("{}/{}", available, *seen.total) : std::to_string(available);
}

std::string frees_column(const Inspection& seen) {
  if (const auto next = key_frees(seen)) return describe(*next);
  return seen.holders.empty() ? std::string{kNothing} : "never";
}

std::string reason_column(const Inspection& seen) {
  for (const Holder& holder : seen.holders)
    if (holder.facts && holder.facts->reason) return sanitized(*holder.facts->reason);
  return std::string{kNothing};
}

bool is_one_of(const std::vector<std::string>& words, std::string_view word) {
  return words.empty() || std::ranges::find(words, word) != words.end();
}

}  // namespace

std::string_view state_name(State state) {
  switch (state) {
    case State::free: return "free";
    case State::held: return "held";
    case State::kept: return "kept";
    case State::open: return "open";
    case State::closed: return "closed";
  }
  return "held";
}

bool is_stale(const Inspection& seen) {
  const auto stale = [&](const Holder& holder) { return holder.stale(seen.now); };
  return seen.state == State::held && std::ranges::any_of(seen.holders, stale);
}

std::string_view key_state(const Inspection& seen) {
  return is_stale(seen) ? "stale" : state_name(seen.state);
}

std::string_view key_type_names() {
  static const std::string names = joined(kinds::all, " ", &Kind::name);
  return names;
}

std::string_view key_type(const Inspection& seen) {
  if (seen.kind != nullptr) return seen.kind->name;
  return seen.absent() ? kNothing : seen.foreign;
}

std::optional<Milliseconds> key_age(const Inspection& seen) {
  std::optional<Milliseconds> age;
  for (const Holder& holder : seen.holders)
    if (holder.facts) age = std::max(age.value_or(Milliseconds{0}), seen.now - holder.facts->since);
  return age;
}

std::optional<Milliseconds> key_frees(const Inspection& seen) {
  std::optional<Milliseconds> next = seen.ttl;
  for (const Holder& holder : seen.holders)
    if (holder.mode != Holder::Mode::read && holder.ttl && (!next || *holder.ttl < *next)) next = holder.ttl;
  return next;
}

KeyRow key_row(const Inspection& seen) {
  const auto age = key_age(seen);
  return {.key = sanitized(as_typed(seen.name)),
          .type = sanitized(key_type(seen)),
          .state = std::string{key_state(seen)},
          .holder = holder_column(seen),
          .available = available_column(seen),
          .held_for = age ? describe(*age) : std::string{kNothing},
          .frees = frees_column(seen),
          .waiting = std::to_string(seen.waiting()),
          .reason = reason_column(seen)};
}

bool passes(const KeyFilter& filter, const Inspection& seen) {
  if (!is_one_of(filter.states, key_state(seen)) || !is_one_of(filter.types, key_type(seen))) return false;
  if (filter.older && key_age(seen).value_or(Milliseconds{0}) < *filter.older) return false;
  return filter.hosts.empty() || std::ranges::any_of(seen.holders, [&](const Holder& holder) {
           return holder.facts && is_one_of(filter.hosts, holder.facts->host);
         });
}

std::vector<Inspection> one_of_each_key(const std::vector<Inspection>& seen) {
  std::map<LockName, std::vector<Inspection>> views;
  for (const Inspection& one : seen) views[one.name].push_back(one);
  std::vector<Inspection> keys;
  for (const auto& [name, each] : views) keys.push_back(agreed(each));
  return keys;
}

void sort_keys(std::vector<Inspection>& seen, KeyOrder order) {
  std::ranges::sort(seen, before_in_natural_order,
                    [](const Inspection& one) { return std::string_view{one.name.str()}; });
  if (order == KeyOrder::age)
    std::ranges::stable_sort(seen, std::ranges::greater{},
                             [](const Inspection& one) { return key_age(one); });
  if (order == KeyOrder::waiting)
    std::ranges::stable_sort(seen, std::ranges::greater{}, &Inspection::waiting);
}

bool matches_any(const std::vector<std::string>& patterns, const std::string& name) {
  return patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& pattern) {
           return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
         });
}

}  // namespace rlock
