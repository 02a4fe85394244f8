#include "cmd/run/run_request.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "base/as_given.h"
#include "base/error.h"
#include "base/key_text.h"
#include "base/text.h"
#include "cmd/cli/suggest.h"
#include "cmd/hold/request/inherited_hold.h"
#include "cmd/run/command_lookup.h"
#include "family/family.h"
#include "process/processes.h"
#include "process/program.h"

namespace rlock {
namespace {

/// Can this word be run? Then it is the command, and not a key without --key.
bool can_be_run(const std::string& word) {
  return word.find('/') == std::string::npos ? !look_up({word}).found.empty() : is_program(word);
}

/// `rlock run ./deploy.sh -k production`: throws an error that says where --key belongs. Does nothing if the command
/// has no --key.
void refuse_key_behind(std::span<const std::string> command) {
  for (std::size_t at = 1; at < command.size(); ++at) {
    const std::string& word = command[at];
    const bool alone = word == "-k" || word == "--key";
    if (alone && at + 1 == command.size()) return;
    if (!alone && !word.starts_with("--key=")) continue;
    const std::string key = alone ? command[at + 1] : word.substr(word.find('=') + 1);
    std::vector<std::string> rest{command.begin(), command.begin() + static_cast<std::ptrdiff_t>(at)};
    const auto behind = command.begin() + static_cast<std::ptrdiff_t>(at + (alone ? 2 : 1));
    rest.insert(rest.end(), behind, command.end());
    throw Error{Error::usage,
                fmt::format("options of rlock stand before COMMAND; did you mean: rlock run -k{} --{}",
                            pasted(std::span{&key, 1}), pasted(rest))};
  }
}

[[noreturn]] void no_key(std::span<const std::string> command, bool marked) {
  if (command.empty() || command[0].starts_with("-"))
    throw Error{Error::usage, "no --key: rlock run -k KEY [OPTIONS] [--] COMMAND [ARG...]"};
  if (!marked) refuse_key_behind(command);
  if (marked || can_be_run(command[0]))
    throw Error{Error::usage, fmt::format("no --key; did you mean: rlock run -k KEY --{}", pasted(command))};
  const std::string key = pasted(command.first(1));
  command = command.subspan(1);
  if (!command.empty() && command[0] == "--") command = command.subspan(1);
  // `flock FILE -c 'make x'`: what follows the key is no command but an option.
  const bool options_follow = !command.empty() && command[0].starts_with("-");
  throw Error{Error::usage,
              fmt::format("no --key; did you mean: rlock run -k{}{}{}", key, options_follow ? "" : " --",
                          command.empty() ? " COMMAND" : pasted(command))};
}

std::vector<std::string> whole_command(const std::optional<std::string>& shell,
                                       std::vector<std::string> command) {
  if (shell && !command.empty())
    throw Error{Error::usage,
                fmt::format("-c takes the whole command; {} is one word too many", in_quotes(command[0]))};
  if (shell) {
    if (shell->empty()) throw Error{Error::usage, "-c: the command is empty"};
    command = {"/bin/sh", "-c", *shell};
  }
  if (command.empty())
    throw Error{Error::usage, "no COMMAND: rlock run -k KEY [OPTIONS] [--] COMMAND [ARG...]"};
  if (command[0].empty()) throw Error{Error::usage, "the name of the command is empty"};
  return command;
}

/// --once-per marks one key on one server: a mark on some keys, or on some servers, would mean nothing.
void check_once_per(const RunRequest& request) {
  if (!request.once_per) return;
  const auto refuse = [](std::string_view why) {
    throw Error{Error::usage, fmt::format("--once-per {}", why)};
  };
  if (!request.type->once_per)
    refuse(fmt::format("with --type {}: it is for lock, fair and fenced", request.type->name));
  if (request.names.size() > 1) refuse("is for one --key; nest two runs");
  if (request.min_hold > Milliseconds{0})
    refuse("contradicts --min-hold, which keeps the key after a failure, too");
  if (request.deployment.targets.size() > 1)
    refuse(
        fmt::format("with several servers ({}): each would keep the key by itself, and they need not agree",
                    as_given("url", "--url")));
  if (request.joining.inside) refuse("with --owner: only the outermost hold can keep the key");
  if (find_hold(holds_above_us(), request.names.front()) != nullptr)
    refuse(fmt::format("inside a run that holds {}: only the outermost run can keep it (see RLOCK_STACK)",
                       quoted(request.names.front())));
}

}  // namespace

void complete_run(RunRequest& request, const TypedRun& typed, std::vector<std::string> command) {
  if (typed.keys.empty()) no_key(command, typed.command_marked);
  // A type counts for all keys: between two of them, it would look as if it were for the second one only.
  if (typed.keys_before_type > 0 && typed.keys_before_type < typed.keys.size())
    throw Error{
        Error::usage,
        request.type && !request.type->only_one_key.empty()
            ? fmt::format("{} is for one key; hold one key inside the other by nesting two runs", typed.type)
            : fmt::format("{} is for all keys; write it before the first --key, or nest two runs",
                          typed.type)};
  request.command = whole_command(typed.shell, std::move(command));
  if (!request.type) request.type = standard_lock_type();
  if (request.type_options.backoff && !request.type->polls)
    throw Error{
        Error::usage,
        fmt::format("--backoff is for --type spin and plain: a release wakes up the waiters of --type {}",
                    request.type->name)};
  if (request.max_hold && request.min_hold > *request.max_hold)
    throw Error{Error::config,
                fmt::format("--min-hold {} is longer than {}", exact(request.min_hold),
                            as_given("max-hold", fmt::format("--max-hold {}", exact(*request.max_hold))))};
  if (request.until_group && !proc_shows_us())
    throw Error{Error::config, "--until group: /proc does not show the processes of a group; mount it"};
  request.plan_time(typed.lost_grace);
  Deployment resolved = resolve(typed.server);
  announce(resolved);
  request.complete(std::move(resolved), typed.keys);
  check_once_per(request);
}

}  // namespace rlock
