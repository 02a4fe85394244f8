// RLOCK_STACK in both directions. A run tells its command which keys are held above it, so that a nested run
// of the same key enters that hold, and does not wait for its own parent for ever. The variable comes from
// outside and may be anything: what cannot be read is skipped, since the server decides in the end whether an
// owner holds. A key may hold any byte, so blanks, control characters and '%' are escaped: one hold a line,
// three words each.

#include "cmd/run/inherited_hold.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/random.h"
#include "base/text.h"

namespace rlock {
namespace {

/// Of the name of a hold inside another one. So few: they only tell holds of one owner from each other.
constexpr std::size_t kIdDigits = 8;

std::string escaped(std::string_view key) {
  std::string out;
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte > ' ' && byte != 0x7f && c != '%';
    out += plain ? std::string(1, c) : fmt::format("%{:02x}", byte);
  }
  return out;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const auto byte = from_hex(text.substr(i + 1, 2));  // substr() of too little is short, not an error
    if (!byte || byte->size() != 1) return std::nullopt;
    out += *byte;
    i += 2;
  }
  return out;
}

}  // namespace

std::vector<InheritedHold> holds_above_us() {
  const char* stack = std::getenv("RLOCK_STACK");
  return read_holds(stack != nullptr ? stack : "");
}

std::vector<InheritedHold> read_holds(std::string_view text) {
  std::vector<InheritedHold> holds;
  for (const std::string& line : split(text, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() != 3 || words[0].empty() || words[1].empty()) continue;
    const auto key = unescaped(words[2]);
    if (key && !key->empty()) holds.push_back({words[0], Owner{words[1]}, LockName{*key}});
  }
  return holds;
}

std::string write_holds(const std::vector<InheritedHold>& holds) {
  std::vector<std::string> lines;
  lines.reserve(holds.size());
  for (const auto& hold : holds)
    lines.push_back(fmt::format("{} {} {}", hold.type, hold.owner.str(), escaped(hold.key.str())));
  return joined(lines, "\n");
}

Owner inner_hold_id(const Owner& owner) {
  return Owner{fmt::format("{}#{}", owner.str(), to_hex(random_bytes(kIdDigits / 2)))};
}

std::optional<Owner> owner_in(const Owner& id) {
  const std::string& text = id.str();
  const std::size_t sign = text.rfind('#');
  if (sign == std::string::npos || sign == 0 || text.size() - sign - 1 != kIdDigits) return std::nullopt;
  if (text.find_first_not_of("0123456789abcdef", sign + 1) != std::string::npos) return std::nullopt;
  return Owner{text.substr(0, sign)};
}

bool forget(std::vector<InheritedHold>& holds, const LockName& key) {
  const InheritedHold* const stale = find_hold(holds, key);
  if (stale != nullptr) holds.erase(holds.begin() + (stale - holds.data()));
  return stale != nullptr;
}

const InheritedHold* find_hold(const std::vector<InheritedHold>& holds, const LockName& key) {
  const auto found =
      // From the end: the innermost run is the nearest ancestor, and its hold ends first.
      std::find_if(holds.rbegin(), holds.rend(), [&](const auto& hold) { return hold.key == key; });
  return found == holds.rend() ? nullptr : &*found;
}

}  // namespace rlock
