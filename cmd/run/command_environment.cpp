#include "cmd/run/command_environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "cmd/server/deployment.h"
#include "redis/target.h"

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

/// Within single quotes every byte stands for itself, but for the quote, and in fish the backslash.
std::string quoted_for(const std::string& value, Shell shell) {
  std::string text = "'";
  for (const char c : value) {
    const bool escapes = shell == Shell::fish && (c == '\'' || c == '\\');
    if (escapes) text += '\\';
    text += c == '\'' && shell == Shell::posix ? std::string{"'\\''"} : std::string(1, c);
  }
  return text + "'";
}

/// A URL that cannot be read is not passed on where it may say a password.
std::optional<std::string> without_password(const std::string& url) {
  try {
    const Target target = parse_target(url);
    return target.password.empty() ? url : target.url();
  } catch (const Error&) {  // REDIS_URL is another program's, and may be something that only that one reads
    return url.find('@') == std::string::npos ? std::optional{url} : std::nullopt;
  }
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
      {"RLOCK_KEY", std::nullopt},  // of a script around it, whose RLOCK_OWNER this is not
  };
}

Variables describe_no_hold() {
  Variables variables{{"RLOCK_HELD", "0"}, {"RLOCK_PID", std::to_string(::getpid())}};
  for (const char* name :
       {"RLOCK_LOCK", "RLOCK_LOCKS", "RLOCK_TYPE", "RLOCK_OWNER", "RLOCK_FENCE", "RLOCK_LEASE_MS",
        "RLOCK_ACQUIRED_AT", "RLOCK_WAITED_MS", "RLOCK_SLOT", "RLOCK_SLOTS", "RLOCK_KEY"})
    variables.emplace_back(name, std::nullopt);
  return variables;
}

std::string export_text(const Variables& variables, Shell shell) {
  std::string text;
  for (const auto& [name, value] : variables) {
    if (shell == Shell::posix)
      text += value ? fmt::format("export {}={}\n", name, quoted_for(*value, shell))
                    : fmt::format("unset {}\n", name);
    else
      text += value ? fmt::format("set -gx {} {}\n", name, quoted_for(*value, shell))
                    : fmt::format("set -e {}\n", name);
  }
  return text;
}

std::string failure_text(int status, Shell shell) {
  return shell == Shell::posix ? fmt::format("(exit {})\n", status)
                               : fmt::format("command sh -c 'exit {}'\n", status);
}

Variables without_passwords() {
  Variables changes;
  for (const char* name : kPasswordVariables) changes.emplace_back(name, std::nullopt);
  if (const char* url = std::getenv("REDIS_URL")) changes.emplace_back("REDIS_URL", without_password(url));
  return changes;
}

}  // namespace rlock
