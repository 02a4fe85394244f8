#include "cmd/view/metrics_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"
#include "cmd/view/key_row.h"

namespace rlock {
namespace {

constexpr std::size_t kLongestLabel = 4096;

/// The value of a sample; empty: this key has none.
using Value = std::optional<std::string>;

std::string seconds(Milliseconds duration) {
  const auto count = std::max<Milliseconds::rep>(duration.count(), 0);
  return fmt::format("{}.{:03}", count / 1000, count % 1000);
}

Value seconds(const std::optional<Milliseconds>& time) { return time ? Value{seconds(*time)} : std::nullopt; }

Value flag(bool truth) { return truth ? "1" : "0"; }

Value number(const std::optional<std::int64_t>& number) {
  return number ? Value{std::to_string(*number)} : std::nullopt;
}

Value held(const Inspection& seen) {
  if (seen.holders.empty() && (seen.available || seen.count)) return std::nullopt;  // a counter has no holder
  return flag(!seen.holders.empty() || seen.state == Inspection::State::held);
}

/// Also of a pool: its state does not say whether all of its permits are kept.
Value kept(const Inspection& seen) {
  const auto ended = [](const Holder& holder) { return holder.facts && holder.facts->ended_at; };
  return seen.holders.empty() ? std::nullopt : flag(std::ranges::all_of(seen.holders, ended));
}

Value waiting(const Inspection& seen) { return std::to_string(seen.waiting()); }

Value stale(const Inspection& seen) { return seen.holders.empty() ? std::nullopt : flag(is_stale(seen)); }

struct MetricFamily {
  std::string_view about;  ///< the name, and the sentence that explains it
  Value (*value)(const Inspection& seen);
};

constexpr MetricFamily kFamilies[] = {
    {"rlock_held Whether the key is held.", held},
    {"rlock_kept Whether only --min-hold or --once-per keeps the key.", kept},
    {"rlock_age_seconds Seconds since the oldest holder acquired the key.",
     [](const Inspection& seen) { return seconds(key_age(seen)); }},
    {"rlock_ttl_seconds Seconds until the key, or the first of its holds, expires unless renewed; no sample: never.",
     [](const Inspection& seen) { return seconds(key_frees(seen)); }},
    {"rlock_waiting Number of waiters for the key.", waiting},
    {"rlock_stale Whether a holder looks dead, or holds the key without a TTL.", stale},
    {"rlock_permits_available Free permits of a semaphore or a pool.",
     [](const Inspection& seen) { return number(seen.available); }},
    {"rlock_permits Size of the pool, if it is known.",
     [](const Inspection& seen) { return number(seen.total); }},
    {"rlock_latch_remaining Counts until the latch opens.",
     [](const Inspection& seen) { return number(seen.count); }},
};

/// The quoted value of a label. sanitized() also removes newlines.
std::string quoted_label(std::string_view text) {
  return "\"" + escaped(sanitized(text, kLongestLabel), "\\\"") + "\"";
}

std::string head(std::string_view name, std::string_view about) {
  return fmt::format("# HELP {}\n# TYPE {} gauge\n", about, name);
}

}  // namespace

std::string metrics_text(const std::vector<Inspection>& keys, bool complete) {
  std::vector<std::pair<std::string, const Inspection*>> series;
  // Two keys may look alike when printed, but a duplicate series would make the whole file invalid.
  std::map<std::string, int> alike;
  for (const Inspection& seen : keys) {
    std::string labels =
        fmt::format("key={},type={}", quoted_label(seen.name.str()), quoted_label(key_type(seen)));
    if (const int times = ++alike[labels]; times > 1) labels += fmt::format(",twin=\"{}\"", times);
    series.emplace_back(fmt::format("{{{}}}", labels), &seen);
  }

  std::string text;
  for (const MetricFamily& family : kFamilies) {
    const std::string_view name = family.about.substr(0, family.about.find(' '));
    std::string samples;
    for (const auto& [labels, seen] : series)
      if (const Value value = family.value(*seen)) samples += fmt::format("{}{} {}\n", name, labels, *value);
    if (!samples.empty()) text += head(name, family.about) + samples;
  }
  text += head("rlock_search_complete", "rlock_search_complete Whether all keys were looked at.");
  return text + fmt::format("rlock_search_complete {}\n", complete ? 1 : 0);
}

}  // namespace rlock
