#include "cmd/hold/report/hold_environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/error.h"
#include "base/key_text.h"
#include "base/text.h"
#include "cmd/hold/request/inherited_hold.h"
#include "cmd/server/secrets.h"
#include "redis/connection/target.h"
#include "sync/calls/arguments.h"

namespace rlock {
namespace {

/// The variables that a command without a lock must not inherit: those of a hold (but for RLOCK_HELD, RLOCK_PID and
/// RLOCK_STACK), and RLOCK_KEY. `lock acquire --export` sets this one beside its RLOCK_OWNER, and no run does.
constexpr std::array kOfAHold{"RLOCK_LOCK",  "RLOCK_LOCKS",    "RLOCK_TYPE",        "RLOCK_OWNER",
                              "RLOCK_FENCE", "RLOCK_LEASE_MS", "RLOCK_ACQUIRED_AT", "RLOCK_WAITED_MS",
                              "RLOCK_SLOT",  "RLOCK_SLOTS",    "RLOCK_KEY"};

/// Sets a variable that describe_no_hold() lists. So none can be forgotten there.
void set(Variables& variables, std::string_view name, std::optional<std::string> value) {
  const auto found = std::ranges::find(variables, name, &Variables::value_type::first);
  if (found == variables.end())
    throw Error{Error::internal, fmt::format("{} would also reach a command without a lock", name)};
  found->second = std::move(value);
}

std::optional<std::string> lines_of(const std::vector<std::string>& words) {
  return words.empty() ? std::nullopt : std::optional{joined(words, "\n")};
}

/// RLOCK_FENCE: one line for each key; empty if the type has no fences.
std::optional<std::string> fences_of(const HeldKeys& keys) {
  std::vector<std::string> fences;
  for (const Held& held : keys.acquired().held)
    if (held.fence) fences.push_back(std::to_string(*held.fence));
  return lines_of(fences);
}

/// RLOCK_SLOT and RLOCK_SLOTS; unset if the type has no permits.
Variables slots_of(const HeldKeys& keys) {
  std::vector<std::string> slots;
  for (const std::int64_t slot : keys.acquired().held.front().slots) slots.push_back(std::to_string(slot));
  const auto lines = lines_of(slots);
  return {{"RLOCK_SLOT", lines ? std::optional{slots.front()} : std::nullopt}, {"RLOCK_SLOTS", lines}};
}

/// RLOCK_STACK: all holds, because a nested run may join any of them.
std::string stack_of(const HeldKeys& keys) {
  std::vector<InheritedHold> stack = holds_above_us();
  std::ranges::copy(keys.holds(), std::back_inserter(stack));
  return write_holds(stack);
}

/// Quotes for a shell. Within single quotes every byte is literal, except the quote and, in fish, the
/// backslash.
std::string quoted_for(const std::string& value, Shell shell) {
  return "'" + (shell == Shell::fish ? escaped(value, "'\\") : joined(split(value, '\''), "'\\''")) + "'";
}

/// The URL without its password. Empty if it cannot be parsed and may contain a password.
std::optional<std::string> without_password(const std::string& url) {
  try {
    const Target target = parse_target(url);
    return target.password.empty() ? url : target.url();
  } catch (const Error&) {  // REDIS_URL belongs to another program, which may accept other forms
    return url.find('@') == std::string::npos ? std::optional{url} : std::nullopt;
  }
}

}  // namespace

Variables describe_no_hold() {
  Variables variables{{"RLOCK_HELD", "0"}, {"RLOCK_PID", std::to_string(::getpid())}};
  for (const char* name : kOfAHold) variables.emplace_back(name, std::nullopt);
  return variables;
}

Variables describe_hold(const HeldKeys& keys) {
  const HoldRequest& request = keys.request();
  std::vector<std::string> names;
  for (const LockName& name : request.names) names.push_back(name.str());
  Variables variables = describe_no_hold();
  set(variables, "RLOCK_HELD", "1");
  set(variables, "RLOCK_LOCK", names.front());
  set(variables, "RLOCK_LOCKS", joined(names, "\n"));
  set(variables, "RLOCK_TYPE", std::string{request.type->name});
  set(variables, "RLOCK_OWNER", keys.owner().str());
  set(variables, "RLOCK_FENCE", fences_of(keys));
  set(variables, "RLOCK_LEASE_MS", in_ms(request.lease));
  set(variables, "RLOCK_ACQUIRED_AT", in_ms(keys.acquired().held.front().server_time));
  set(variables, "RLOCK_WAITED_MS", in_ms(keys.waited()));
  for (auto& [name, value] : slots_of(keys)) set(variables, name, std::move(value));
  variables.emplace_back("RLOCK_STACK", stack_of(keys));
  return variables;
}

std::string export_text(const HeldKeys& keys, Shell shell) {
  std::vector<std::string> names;
  for (const LockName& name : keys.request().names) names.push_back(as_typed(name));
  Variables variables{{"RLOCK_OWNER", keys.id().str()},
                      {"RLOCK_FENCE", fences_of(keys)},
                      {"RLOCK_KEY", joined(names, "\n")},
                      {"RLOCK_STACK", stack_of(keys)}};
  if (!keys.acquired().held.front().slots.empty())
    std::ranges::copy(slots_of(keys), std::back_inserter(variables));
  std::string text;
  for (const auto& [name, value] : variables) {
    if (shell == Shell::posix)
      text += value ? fmt::format("export {}={}\n", name, quoted_for(*value, shell))
                    : fmt::format("unset {}\n", name);
    else
      text += value ? fmt::format("set -gx {} {}\n", name, quoted_for(*value, shell))
                    : fmt::format("set -e {}\n", name);
  }
  if (shell == Shell::fish)
    text += "true\n";  // set -e of a name that is not set fails, and set -gx keeps the status
  return text;
}

std::string failure_text(int status, Shell shell) {
  return shell == Shell::posix ? fmt::format("(exit {})\n", status)
                               : fmt::format("command sh -c 'exit {}'\n", status);
}

Variables without_passwords() {
  Variables changes;
  for (const char* name : kPasswordVariables) changes.emplace_back(name, std::nullopt);
  if (const auto url = environment_variable("REDIS_URL"))
    changes.emplace_back("REDIS_URL", without_password(*url));
  return changes;
}

}  // namespace rlock
