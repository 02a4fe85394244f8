// Reads and writes RLOCK_STACK. By this variable, a run tells its command which keys are held above it. So a nested
// run for the same key joins that hold, instead of waiting for its parent for ever.

#include "cmd/hold/request/inherited_hold.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/environment.h"
#include "base/percent.h"
#include "base/text.h"

namespace rlock {
namespace {

/// At most this many holds of one key are read, because each of them may cost a request to the server.
constexpr std::size_t kMostOfOneKey = 16;

/// A line of RLOCK_STACK has its words between blanks.
bool may_stand_in_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > ' ' && byte != 0x7f && c != '%';
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
    const auto key = percent_decoded(words[2]);
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
    lines.push_back(fmt::format("{} {} {}", hold.type, hold.owner.str(),
                                percent_encoded(hold.key.str(), may_stand_in_word)));
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
