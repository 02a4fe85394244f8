#include "cmd/view/inspection_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/key_text.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/view/history_text.h"
#include "cmd/view/holder_text.h"
#include "cmd/view/table.h"
#include "sync/calls/keys.h"

namespace rlock {
namespace {

using State = Inspection::State;

constexpr std::size_t kLeastWidth = 14;
constexpr std::size_t kMostWidth = 40;

std::string state_of(const Inspection& seen) {
  if (seen.absent()) return "";
  if (seen.kind == nullptr) return "not a lock";
  if (seen.total)
    return fmt::format("{} of {} taken", static_cast<std::int64_t>(seen.holders.size()) + seen.unnamed,
                       *seen.total);
  if (seen.available) return available_text(*seen.available, std::nullopt);
  if (seen.count) return seen.state == State::open ? "open" : fmt::format("closed, {} to go", *seen.count);
  if (seen.state == State::free && seen.fence) return fmt::format("free, newest token {}", *seen.fence);
  return seen.state == State::kept ? "kept" : seen.state == State::free ? "free" : "held";
}

std::string type_text(const Inspection& seen) {
  if (seen.kind != nullptr) return std::string{seen.kind->name};
  return seen.absent() ? "free" : "a " + sanitized(seen.foreign);
}

/// The end of the hold and the last renewal: "renewed 4s ago, expires in 26s if the holder is dead".
std::string outlook(const Holder& holder, ServerTime now) {
  const std::string text = outlook_text(holder, now);
  if (!holder.ttl || !holder.alive(now).value_or(false)) return text;
  return fmt::format("renewed {} ago, {}", describe(now - holder.facts->renewed), text);
}

std::string role(const Holder& holder) {
  switch (holder.mode) {
    case Holder::Mode::exclusive: return "";
    case Holder::Mode::read: return "reads   ";
    case Holder::Mode::write: return "writes  ";
    case Holder::Mode::permit:
      return fmt::format("{:<7} ", holder.slot ? fmt::format("slot {}", *holder.slot) : "-");
  }
  return "";
}

std::string holder_lines(const Inspection& seen, const Holder& holder) {
  const std::string margin = "  " + std::string(role(holder).size(), ' ');
  std::string first = fmt::format("  {}{}", role(holder), whole_holder_text(holder, seen.now));
  const std::string end = outlook(holder, seen.now);
  const bool brief = !holder.facts || holder.facts->ended_at;
  if (brief) first += ", " + end;
  if (holder.count > 1) first += fmt::format(", entered {} times", holder.count);
  if (verbosity() == Verbosity::verbose && !holder.permit.empty())
    first += ", permit " + sanitized(to_hex(holder.permit));
  if (holder.fence) first += fmt::format(", fence {}", *holder.fence);
  std::string text = first + "\n";
  if (!holder.facts) return text;
  if (holder.facts->url) text += margin + sanitized(*holder.facts->url) + "\n";
  std::vector<std::string> labels;
  for (const auto& [name, value] : holder.facts->labels)
    labels.push_back(sanitized(name) + "=" + sanitized(value));
  if (!labels.empty()) text += margin + joined(labels, " ") + "\n";
  if (!brief) text += fmt::format("{}owner {}, {}\n", margin, owner_text(holder.owner), end);
  return text;
}

/// "alice@ci-7 pid 4121 for 12s (make)", or else the owner id.
std::string waiter_text(const Waiter& waiter, ServerTime now) {
  const bool verbose = verbosity() == Verbosity::verbose;
  const std::string end =
      verbose ? fmt::format(", forgotten in {} unless it asks again", describe(waiter.ttl)) : "";
  if (verbose && !waiter.facts) return owner_text(waiter.owner) + end;
  const std::string who = holder_text({.owner = waiter.owner, .facts = waiter.facts}, now);
  return who + (verbose ? ", owner " + owner_text(waiter.owner) + end : "");
}

/// The waiters in order; without --verbose only the first ones.
std::string waiter_lines(const Inspection& seen) {
  constexpr std::size_t kBrief = 10;
  const bool all = verbosity() == Verbosity::verbose || seen.waiters.size() <= kBrief + 1;
  const std::size_t count = all ? seen.waiters.size() : kBrief;
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += fmt::format("  waits {}: {}\n", i + 1, waiter_text(seen.waiters[i], seen.now));
  const auto more = static_cast<std::int64_t>(seen.waiters.size() - count) + seen.further_waiters;
  if (more > 0) text += fmt::format("  and {} more wait{}\n", more, all ? "" : ": rlock inspect -v");
  return text;
}

/// The names of the keys on the server, for --verbose.
std::string details(const Inspection& seen) {
  if (seen.absent()) return "";
  return fmt::format("  keys {}, {}\n", sanitized(seen.name.str()), sanitized(metadata_key(seen.name)));
}

/// The width of the column of names.
std::size_t name_column(const std::vector<Inspection>& inspections) {
  std::size_t width = kLeastWidth;
  for (const Inspection& seen : inspections)
    width = std::max(width, std::min(columns_of(sanitized(as_typed(seen.name))) + 2, kMostWidth));
  return width;
}

}  // namespace

std::string inspection_summary(const Inspection& seen) {
  std::string text = type_text(seen);
  if (const std::string state = state_of(seen); !state.empty()) text += ", " + state;
  if (const std::int64_t waiting = seen.waiting(); waiting > 0)
    text += fmt::format(", {} {}", waiting, waiting == 1 ? "waits" : "wait");
  return text;
}

std::string available_text(std::int64_t available, std::optional<std::int64_t> total) {
  // A Java client can make a pool smaller than empty: then fewer permits are taken than are missing.
  const std::int64_t too_many = total ? std::min(-available, *total - available) : -available;
  return fmt::format("{}{} available{}", std::max<std::int64_t>(available, 0),
                     total ? fmt::format(" of {}", *total) : "",
                     too_many > 0 ? fmt::format(", {} too many taken", too_many) : "");
}

std::string inspection_text(const Inspection& seen, std::size_t width) {
  const std::string name = sanitized(as_typed(seen.name));
  // At least two blanks, even behind a name that is wider than its column.
  const std::size_t column = std::max(width, columns_of(name) + kBetweenColumns.size());
  std::string text = padded_to(name, column) + inspection_summary(seen) + "\n";
  for (const Holder& holder : seen.holders) text += holder_lines(seen, holder);
  if (seen.unnamed > 0) text += fmt::format("  and {} more\n", seen.unnamed);
  if (seen.last) text += fmt::format("  {}\n", last_text(*seen.last, seen.now));
  text += waiter_lines(seen);
  if (verbosity() == Verbosity::verbose) text += details(seen);
  return text;
}

std::string inspections_text(const std::vector<Inspection>& inspections) {
  std::string text, server;
  const std::size_t width = name_column(inspections);
  for (const Inspection& seen : inspections) {
    if (seen.server && *seen.server != server) {
      server = *seen.server;
      text += sanitized(server) + "\n";
    }
    text += inspection_text(seen, width);
  }
  return text;
}

void say_if_pattern(const LockName& name) {
  const std::string key = as_typed(name);
  if (key.find_first_of("*?[") == std::string::npos) return;
  info(fmt::format("{} is no pattern; to see all keys that match it: rlock list {}", in_quotes(key),
                   words_for(name)));
}

}  // namespace rlock
