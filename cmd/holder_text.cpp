#include "cmd/holder_text.h"

#include <fmt/format.h>

#include "base/text.h"

namespace rlock {
namespace {

constexpr std::size_t kShown = 6;
constexpr std::size_t kLongest = 120;

std::string shown(std::string_view text) { return sanitized(text, kLongest); }

/// The age of something that happened at `then`; empty where the clock is not known.
std::string age(std::optional<Milliseconds> now, Milliseconds then) {
  return now && *now >= then ? describe(*now - then) : "";
}

}  // namespace

std::string short_owner(const Owner& owner) {
  const std::string& text = owner.str();
  const std::size_t colon = text.rfind(':');
  if (text.size() <= 2 * kShown) return shown(text);
  return shown(text.substr(0, kShown)) + "..." +
         (colon == std::string::npos ? "" : shown(text.substr(colon)));
}

std::string holder_text(const Owner& owner, const std::optional<Metadata>& facts,
                        std::optional<Milliseconds> now) {
  if (!facts) return owner.empty() ? "somebody" : short_owner(owner) + " (a Redisson client)";
  std::string text = fmt::format("{}@{}", shown(facts->user), shown(facts->host));
  if (facts->ended_at) {
    text += fmt::format(" ({})", shown(facts->command));
    const std::string ago = age(now, *facts->ended_at);
    if (!ago.empty()) text += fmt::format(", finished {} ago", ago);
    if (facts->exit) text += fmt::format(" (exit {})", *facts->exit);
    return text;
  }
  text += fmt::format(" pid {}", facts->pid);
  if (const std::string held = age(now, facts->since); !held.empty()) text += " for " + held;
  if (!facts->command.empty()) text += fmt::format(" ({})", shown(facts->command));
  if (facts->reason) text += fmt::format(" \"{}\"", shown(*facts->reason));
  return text;
}

}  // namespace rlock
