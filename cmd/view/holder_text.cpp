#include "cmd/view/holder_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "base/owner_id.h"
#include "base/redaction.h"
#include "base/text.h"
#include "sync/kinds/permit_lock.h"

namespace rlock {
namespace {

constexpr std::size_t kShown = 6;
constexpr std::size_t kLongest = 120;

/// At most so many holders are named; further ones are only counted.
constexpr std::size_t kNamed = 3;

std::string shown(std::string_view text) { return sanitized(text, kLongest); }

/// The time since `then`; empty if the current time is unknown.
std::string age(std::optional<ServerTime> now, ServerTime then) {
  return now && *now >= then ? describe(*now - then) : "";
}

/// The kind of client of an owner without metadata.
std::string_view client_of(const Holder& holder) {
  if (is_of_rlock(holder.owner) || holder.slot) return "an rlock";
  const bool permit_id = holder.mode == Holder::Mode::permit &&
                         holder.owner.str().size() == 2 * kPermitIdBytes;  // in hexadecimal
  return permit_id || has_redisson_form(holder.owner) ? "a Redisson client" : "unknown";
}

/// A holder without metadata: "8d1f...:57 (a Redisson client)".
std::string unknown_text(const Holder& holder, const std::string& owner) {
  return fmt::format("{} ({})", owner, client_of(holder));
}

}  // namespace

std::string short_owner(const Owner& owner) {
  const std::string text = redacted(owner.str());  // redacted before it is cut
  const std::size_t colon = text.rfind(':');
  if (text.size() <= 2 * kShown) return shown(text);
  return shown(text.substr(0, kShown)) + "..." +
         (colon == std::string::npos ? "" : shown(text.substr(colon)));
}

std::string owner_text(const Owner& owner) {
  return verbosity() == Verbosity::verbose ? sanitized(owner.str()) : short_owner(owner);
}

std::string holder_text(const Holder& holder, std::optional<ServerTime> now) {
  if (!holder.facts) return unknown_text(holder, short_owner(holder.owner));
  const Metadata& facts = *holder.facts;
  std::string text = fmt::format("{}@{}", shown(facts.user), shown(facts.host));
  if (facts.ended_at) {
    text += fmt::format(" ({})", shown(facts.command));
    const std::string ago = age(now, *facts.ended_at);
    if (!ago.empty()) text += fmt::format(", finished {} ago", ago);
    if (facts.exit) text += fmt::format(" (exit {})", *facts.exit);
    return text;
  }
  text += fmt::format(" pid {}", facts.pid);
  if (const std::string held = age(now, facts.since); !held.empty()) text += " for " + held;
  if (!facts.command.empty()) text += fmt::format(" ({})", shown(facts.command));
  if (facts.reason) text += fmt::format(" \"{}\"", shown(*facts.reason));
  return text;
}

std::string holder_cell(const Holder& holder) {
  if (!holder.facts) return unknown_text(holder, short_owner(holder.owner));
  return fmt::format("{}@{} ({})", sanitized(holder.facts->user), sanitized(holder.facts->host),
                     sanitized(holder.facts->command));
}

std::string whole_holder_text(const Holder& holder, ServerTime now) {
  if (!holder.facts) return unknown_text(holder, owner_text(holder.owner));
  const Metadata& facts = *holder.facts;
  std::string text = fmt::format("{}@{}", sanitized(facts.user), sanitized(facts.host));
  if (facts.ended_at) {
    text += fmt::format(" ({}) finished {} ago", sanitized(facts.command), describe(now - *facts.ended_at));
    return facts.exit ? text + fmt::format(" (exit {})", *facts.exit) : text;
  }
  text +=
      fmt::format(" pid {} ({}) for {}", facts.pid, sanitized(facts.command), describe(now - facts.since));
  return facts.reason ? text + fmt::format(" \"{}\"", sanitized(*facts.reason)) : text;
}

std::string holders_text(const std::vector<Holder>& holders, std::optional<ServerTime> now,
                         std::int64_t unnamed) {
  std::string text;
  const std::size_t named = std::min(holders.size(), kNamed);
  for (std::size_t i = 0; i < named; ++i) {
    if (i > 0) text += i + 1 == named ? " and " : ", ";
    text += holder_text(holders[i], now);
  }
  const std::int64_t more = unnamed + static_cast<std::int64_t>(holders.size() - named);
  if (named == 0 && more > 0) return fmt::format("{} {}", more, more == 1 ? "client" : "clients");
  return more > 0 ? fmt::format("{}, and {} more", text, more) : text;
}

std::string kept_by_text(const Metadata& facts) {
  return facts.kept_by.empty() ? "--min-hold or --once-per" : shown(facts.kept_by);
}

std::string outlook_text(const Holder& holder, ServerTime now) {
  if (!holder.ttl && holder.mode == Holder::Mode::permit) return "no lease: it never ends";
  if (!holder.ttl) return "no TTL: the key never expires";
  if (*holder.ttl == Milliseconds{0} && holder.mode == Holder::Mode::read) return "its lease has ended";
  if (*holder.ttl == Milliseconds{0}) return "its lease has just ended";
  const std::string rest = describe(*holder.ttl);
  const auto& facts = holder.facts;
  if (!facts && holder.mode == Holder::Mode::permit) return "lease ends in " + rest;
  if (!facts) return fmt::format("expires in {} unless the holder renews it", rest);
  if (facts->ended_at) return fmt::format("{} more by {}", rest, kept_by_text(*facts));
  if (holder.entered(now)) return fmt::format("ends in {} unless a run inside it renews it", rest);
  if (!facts->renews) return fmt::format("ends in {}, because no process renews it", rest);
  if (holder.alive(now).value_or(true)) return fmt::format("expires in {} if the holder is dead", rest);
  return fmt::format("not renewed for {}: the holder looks dead; expires in {}",
                     describe(now - facts->renewed), rest);
}

}  // namespace rlock
