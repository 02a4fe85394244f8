#include "sync/calls/keys.h"

namespace rlock {
namespace {

/// Adds braces unless the name contains an opening brace. Redisson does not look at the closing brace either.
std::string braced(const LockName& name) {
  const bool has_tag = name.str().find('{') != std::string::npos;
  return has_tag ? name.str() : "{" + name.str() + "}";
}

}  // namespace

std::string prefix_name(std::string_view prefix, const LockName& name) {
  return std::string{prefix} + ":" + braced(name);
}

std::string suffix_name(const LockName& name, std::string_view suffix) {
  return braced(name) + ":" + std::string{suffix};
}

Channel lock_channel(const LockName& name) { return Channel{prefix_name("redisson_lock__channel", name)}; }

Channel read_write_channel(const LockName& name) { return Channel{prefix_name("redisson_rwlock", name)}; }

Channel permits_channel(const LockName& name) { return Channel{prefix_name("redisson_sc", name)}; }

/// Redisson adds braces here even if the name has some.
Channel latch_channel(const LockName& name) {
  return Channel{"redisson_countdownlatch__channel__{" + name.str() + "}"};
}

Channel own_channel(const Channel& channel, const Owner& owner) {
  return Channel{channel.str() + ":" + owner.str()};
}

std::string own_key(const LockName& name, std::string_view part) {
  return prefix_name("redisson_unlock_latch", name).append(":").append(part);
}

std::vector<std::string> fair_queue_keys(const LockName& name) {
  return {prefix_name("redisson_lock_queue", name), prefix_name("redisson_lock_timeout", name),
          own_key(name, "waiters")};
}

std::vector<std::string> line_keys(const LockName& name) {
  const std::string line = own_key(name, "line");
  return {line, line + ":waiters", line + ":facts"};
}

std::string token_key(const LockName& name) { return prefix_name(kTokenPrefix, name); }

std::string taken_key(const LockName& name) { return suffix_name(name, "timeout"); }

std::string permit_slots_key(const LockName& name) { return own_key(name, "slots"); }

std::string shares_key(const LockName& name, std::string_view entry) {
  return own_key(name, "of:") + std::string{entry};
}

std::string keep_key(const LockName& name) { return own_key(name, "keep"); }

std::string done_key(const LockName& name) { return own_key(name, "done"); }

std::string inner_holds_key(const LockName& name, const Owner& owner) {
  return own_key(name, "inner:") + owner.str();
}

std::string released_key(const LockName& name, const Owner& owner) {
  return own_key(name, "released:" + owner.str());
}

std::string metadata_key(const LockName& name) { return prefix_name(kMetadataPrefix, name); }

std::string history_key(const LockName& name) { return prefix_name("rlock:history", name); }

bool placeable(const LockName& name) {
  const std::string& text = name.str();
  const auto open = text.find('{');
  if (open == std::string::npos) return text.find('}') == std::string::npos;
  const auto close = text.find('}', open);
  return close != std::string::npos && close > open + 1;  // a Cluster ignores an empty tag
}

}  // namespace rlock
