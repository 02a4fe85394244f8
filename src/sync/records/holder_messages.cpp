#include "sync/records/holder_messages.h"

#include <fmt/format.h>

#include "base/random.h"
#include "base/text.h"
#include "sync/calls/arguments.h"
#include "sync/calls/keys.h"

namespace rlock {
namespace {

/// The most characters of another client's text that a terminal line shows.
constexpr std::size_t kLongestRequest = 300;

/// The text of a message: "<word>\n<who>\n<why>".
std::string message_of(std::string_view word, std::string_view who, std::string_view why) {
  return fmt::format("{}\n{}\n{}", word, who, why);
}

std::optional<std::string> read_message(std::string_view word, std::string_view text) {
  const std::vector<std::string> lines = split(std::string{text}, '\n');
  if (lines.size() < 2 || lines[0] != word) return std::nullopt;
  return sanitized(by_whom(lines[1], lines.size() > 2 ? lines[2] : ""), kLongestRequest);
}

constexpr std::string_view kStop = "stop";
constexpr std::string_view kRemoved = "removed";

}  // namespace

std::string by_whom(std::string_view who, std::string_view why) {
  return why.empty() ? std::string{who} : fmt::format("{}: {}", who, why);
}

Channel holder_channel(const LockName& name, const Owner& owner) {
  return own_channel(lock_channel(name), owner);
}

Call tell_holder(const LockName& name, const Owner& owner, std::string text) {
  return command({"PUBLISH", holder_channel(name, owner).str(), std::move(text)}, name.str());
}

std::string stop_request(std::string_view who, std::string_view why) { return message_of(kStop, who, why); }

std::optional<std::string> read_stop_request(std::string_view text) { return read_message(kStop, text); }

std::string removal_notice(std::string_view who, std::string_view why) {
  return message_of(kRemoved, who, why);
}

std::optional<std::string> read_removal_notice(std::string_view text) { return read_message(kRemoved, text); }

Call mark_released(const LockName& name, const Owner& owner, Milliseconds stays) {
  const std::string key = released_key(name, owner);
  return command({"SET", key, "1", "PX", in_ms(stays)}, key);
}

Call ask_released(const LockName& name, const Owner& owner) { return get(released_key(name, owner)); }

Call number_release(const LockName& name, const Owner& owner, Milliseconds stays) {
  const std::string key = released_key(name, owner) + ":number";
  return command({"SET", key, new_request().str(), "PX", in_ms(stays)}, key);
}

std::vector<Call> prolong_mark(const LockName& name, const Owner& owner, Milliseconds stays) {
  const std::string key = released_key(name, owner);
  const std::string number = key + ":number";  // first: the mark must not outlive it
  return {command({"PEXPIRE", number, in_ms(stays)}, number), command({"PEXPIRE", key, in_ms(stays)}, key)};
}

Call ask_release_number(const LockName& name, const Owner& owner) {
  return get(released_key(name, owner) + ":number");
}

std::string read_release_number(const Reply& reply) {
  return reply.kind() == Reply::Kind::text ? reply.text() : "";
}

bool read_released(const Reply& reply) { return reply.kind() == Reply::Kind::text && reply.text() == "1"; }

}  // namespace rlock
