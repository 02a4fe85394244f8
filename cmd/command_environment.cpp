#include "cmd/command_environment.h"

#include <unistd.h>

#include "base/text.h"

namespace rlock {
namespace {

std::string number(Milliseconds duration) { return std::to_string(duration.count()); }

std::optional<std::string> first_of(const std::vector<std::int64_t>& slots) {
  if (slots.empty()) return std::nullopt;
  return std::to_string(slots.front());
}

std::optional<std::string> lines_of(const std::vector<std::int64_t>& numbers) {
  if (numbers.empty()) return std::nullopt;
  std::vector<std::string> lines;
  lines.reserve(numbers.size());
  for (const std::int64_t number : numbers) lines.push_back(std::to_string(number));
  return joined(lines, "\n");
}

}  // namespace

Variables describe_hold(const HoldFacts& facts) {
  std::vector<std::string> keys;
  keys.reserve(facts.keys.size());
  for (const LockName& key : facts.keys) keys.push_back(key.str());
  return {
      {"RLOCK_HELD", "1"},
      {"RLOCK_LOCK", keys.front()},
      {"RLOCK_LOCKS", joined(keys, "\n")},
      {"RLOCK_TYPE", facts.type},
      {"RLOCK_OWNER", facts.owner.str()},
      {"RLOCK_FENCE", lines_of(facts.fences)},
      {"RLOCK_LEASE_MS", number(facts.lease)},
      {"RLOCK_ACQUIRED_AT", number(facts.acquired_at)},
      {"RLOCK_WAITED_MS", number(facts.waited)},
      {"RLOCK_PID", std::to_string(::getpid())},
      {"RLOCK_SLOT", first_of(facts.slots)},
      {"RLOCK_SLOTS", lines_of(facts.slots)},
      {"RLOCK_STACK", facts.stack},
  };
}

}  // namespace rlock
