// Reads and writes RLOCK_STACK. By this variable, a run tells its command which keys are held above it. So a nested
// run for the same key joins that hold, instead of waiting for its parent for ever.

#include "cmd/hold/request/inherited_hold.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/environment.h"
#include "base/text.h"

namespace rlock {
namespace {

/// At most this many holds of one key are read, because each of them may cost a request to the server.
constexpr std::size_t kMostOfOneKey = 16;

std::string as_percent(std::string_view key) {
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
    const auto byte = from_hex(text.substr(i + 1, 2));  // near the end, substr() returns less
    if (!byte || byte->size() != 1) return std::nullopt;
    out += *byte;
    i += 2;
  }
  return out;
}

}  // namespace

std::vector<InheritedHold> holds_above_us() {
  return read_holds(environment_variable("RLOCK_STACK").value_or(""));
}

std::vector<InheritedHold> read_holds(std::string_view text) {
  std::vector<InheritedHold> holds;
  std::map<std::string, std::size_t> counts;
  const std::vector<std::string> lines = split(text, '\n');
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const auto words = split(*line, ' ');
    if (words.size() != 3 || words[0].empty() || words[1].empty()) continue;
    const auto key = unescaped(words[2]);
    if (!key || key->empty() || ++counts[*key] > kMostOfOneKey) continue;
    holds.push_back({words[0], Owner{words[1]}, LockName{*key}});
  }
  std::ranges::reverse(holds);
  return holds;
}

std::string write_holds(const std::vector<InheritedHold>& holds) {
  std::vector<std::string> lines;
  lines.reserve(holds.size());
  for (const auto& hold : holds)
    lines.push_back(fmt::format("{} {} {}", hold.type, hold.owner.str(), as_percent(hold.key.str())));
  return joined(lines, "\n");
}

bool forget(std::vector<InheritedHold>& holds, const LockName& key) {
  const InheritedHold* const stale = find_hold(holds, key);
  if (stale != nullptr) holds.erase(holds.begin() + (stale - holds.data()));
  return stale != nullptr;
}

const InheritedHold* find_hold(const std::vector<InheritedHold>& holds, const LockName& key) {
  // From the end: the innermost run is the nearest ancestor, and its hold ends first.
  const auto found =
      std::find_if(holds.rbegin(), holds.rend(), [&](const auto& hold) { return hold.key == key; });
  return found == holds.rend() ? nullptr : &*found;
}

}  // namespace rlock
