#include "cmd/hold/report/hold_environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <optional>
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

/// Adds a variable that is set, or unset if the value is empty.
void add(Variables& variables, const char* name, const std::string& value) {
  variables.emplace_back(name, value.empty() ? std::nullopt : std::optional{value});
}

/// RLOCK_FENCE: one line for each key; empty if the type has no fences.
std::string fences_of(const HeldKeys& keys) {
  std::vector<std::string> fences;
  for (const Held& held : keys.acquired().held)
    if (held.fence) fences.push_back(std::to_string(*held.fence));
  return joined(fences, "\n");
}

/// The indices of the permits; empty if the type has no permits. RLOCK_SLOT is the first one.
std::vector<std::string> slots_of(const HeldKeys& keys) {
  std::vector<std::string> slots;
  for (const std::int64_t slot : keys.acquired().held.front().slots) slots.push_back(std::to_string(slot));
  return slots;
}

/// RLOCK_STACK: all holds, because a nested run may join any of them.
std::string stack_of(const HeldKeys& keys) {
  std::vector<InheritedHold> stack = holds_above_us();
  std::ranges::copy(keys.holds(), std::back_inserter(stack));
  return write_holds(stack);
}

/// What the variables say of a hold; empty: it does not apply. Without a lock, only `held` is set.
struct HoldValues {
  std::string held = "0";
  std::string lock{}, locks{}, type{}, owner{}, fence{}, lease{}, acquired_at{}, waited{}, slot{}, slots{};
};

/// All names that a hold sets, but RLOCK_STACK. So what a hold sets is unset for a command without a lock, and
/// the value of an outer run does not reach it.
Variables variables_of(const HoldValues& values) {
  Variables variables;
  variables.reserve(16);
  add(variables, "RLOCK_HELD", values.held);
  add(variables, "RLOCK_PID", std::to_string(::getpid()));
  add(variables, "RLOCK_LOCK", values.lock);
  add(variables, "RLOCK_LOCKS", values.locks);
  add(variables, "RLOCK_TYPE", values.type);
  add(variables, "RLOCK_OWNER", values.owner);
  add(variables, "RLOCK_FENCE", values.fence);
  add(variables, "RLOCK_LEASE_MS", values.lease);
  add(variables, "RLOCK_ACQUIRED_AT", values.acquired_at);
  add(variables, "RLOCK_WAITED_MS", values.waited);
  add(variables, "RLOCK_SLOT", values.slot);
  add(variables, "RLOCK_SLOTS", values.slots);
  add(variables, "RLOCK_KEY", "");  // a script around us may have set it, for another RLOCK_OWNER
  return variables;
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

Variables describe_hold(const HeldKeys& keys) {
  const HoldRequest& request = keys.request();
  const std::vector<std::string> slots = slots_of(keys);
  Variables variables = variables_of({.held = "1",
                                      .lock = request.names.front().str(),
                                      .locks = joined(request.names, "\n", &LockName::str),
                                      .type = std::string{request.type->name},
                                      .owner = keys.owner().str(),
                                      .fence = fences_of(keys),
                                      .lease = in_ms(request.lease),
                                      .acquired_at = in_ms(keys.acquired().held.front().server_time),
                                      .waited = in_ms(keys.waited()),
                                      .slot = slots.empty() ? "" : slots.front(),
                                      .slots = joined(slots, "\n")});
  add(variables, "RLOCK_STACK", stack_of(keys));
  return variables;
}

Variables describe_no_hold() { return variables_of({}); }

std::string export_text(const HeldKeys& keys, Shell shell) {
  Variables variables;
  add(variables, "RLOCK_OWNER", keys.id().str());
  add(variables, "RLOCK_FENCE", fences_of(keys));
  add(variables, "RLOCK_KEY", joined(keys.request().names, "\n", as_typed));
  add(variables, "RLOCK_STACK", stack_of(keys));
  if (const std::vector<std::string> slots = slots_of(keys); !slots.empty()) {
    add(variables, "RLOCK_SLOT", slots.front());
    add(variables, "RLOCK_SLOTS", joined(slots, "\n"));
  }
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
