#include "sync/holder_messages.h"

#include <fmt/format.h>

#include "base/text.h"
#include "sync/keys.h"

namespace rlock {
namespace {

/// Of what somebody else has written, for a line of a terminal.
constexpr std::size_t kLongestRequest = 300;

std::string released_key(const LockName& name, const Owner& owner) {
  return prefix_name("redisson_unlock_latch", name) + ":released:" + owner.str();
}

}  // namespace

Channel holder_channel(const LockName& name, const Owner& owner) {
  return Channel{lock_channel(name).str() + ":" + owner.str()};
}

Call tell_holder(const LockName& name, const Owner& owner, std::string text) {
  return command({"PUBLISH", holder_channel(name, owner).str(), std::move(text)}, name.str());
}

std::string stop_request(std::string_view who, std::string_view why) {
  return fmt::format("stop\n{}\n{}", who, why);
}

std::optional<std::string> read_stop_request(std::string_view text) {
  const std::vector<std::string> lines = split(std::string{text}, '\n');
  if (lines.size() < 2 || lines[0] != "stop") return std::nullopt;
  const bool reasoned = lines.size() > 2 && !lines[2].empty();
  return sanitized(reasoned ? fmt::format("{}: {}", lines[1], lines[2]) : lines[1], kLongestRequest);
}

Call mark_released(const LockName& name, const Owner& owner, Milliseconds stays) {
  const std::string key = released_key(name, owner);
  return command({"SET", key, "1", "PX", std::to_string(stays.count())}, key);
}

Call ask_released(const LockName& name, const Owner& owner) {
  const std::string key = released_key(name, owner);
  return command({"GET", key}, key);
}

bool read_released(const Reply& reply) { return reply.kind() == Reply::Kind::text && reply.text() == "1"; }

}  // namespace rlock
