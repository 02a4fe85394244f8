#include "cmd/run_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace rlock {
namespace {

/// Longer words are cut short: nobody pastes them.
constexpr std::size_t kLongestPasted = 1024;

/// To be pasted.
std::string shell_word(const std::string& word) {
  return word.size() <= kLongestPasted ? shell_quoted(word) : in_quotes(word);
}

[[noreturn]] void no_key(const std::vector<std::string>& command) {
  if (command.empty() || command[0].starts_with("-"))
    throw Error{Error::usage, "no --key: rlock run -k KEY [OPTIONS] [--] COMMAND [ARG...]"};
  std::string rest;
  for (std::size_t i = 1; i < command.size() && i < 8; ++i) {
    if (i > 1 || command[i] != "--") rest += " " + shell_word(command[i]);
  }
  // Behind `flock FILE -c 'make x'` stands no command, but an option of ours.
  const bool options_follow = rest.starts_with(" -");
  throw Error{Error::usage, fmt::format("no --key; did you mean: rlock run -k {}{}{}", shell_word(command[0]),
                                        options_follow ? "" : " --", rest.empty() ? " COMMAND" : rest)};
}

void complete_command(RunOptions& opt, const std::optional<std::string>& shell,
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
  opt.command = std::move(command);
}

void complete_names(RunOptions& opt) {
  for (const std::string& key : opt.keys) opt.names.push_back(opt.deployment.name(key));
  // Everybody takes several locks in the same order, or two could wait for each other.
  std::ranges::sort(opt.names);
  const auto twins = std::ranges::unique(opt.names);
  opt.names.erase(twins.begin(), twins.end());
}

}  // namespace

void complete_run(RunOptions& opt, const std::optional<std::string>& shell,
                  std::vector<std::string> command) {
  if (opt.keys.empty()) no_key(command);
  complete_command(opt, shell, std::move(command));
  if (!opt.type) opt.type = find_lock_type("lock");
  if (opt.backoff && !opt.type->polls)
    throw Error{Error::usage, fmt::format("--backoff: waiters for --type {} are woken", opt.type->name)};
  if (opt.permits && opt.count > *opt.permits)
    throw Error{Error::usage, fmt::format("--count {} is more than --permits {}", opt.count, *opt.permits)};
  if (opt.max_hold && opt.min_hold > *opt.max_hold)
    throw Error{Error::config, fmt::format("--min-hold {} is longer than --max-hold {}", exact(opt.min_hold),
                                           exact(*opt.max_hold))};
  opt.budget = plan_budget(opt.lease, opt.lost_grace, opt.kill_after, opt.renew);
  opt.budget.renew_every = std::min(opt.budget.renew_every, opt.type->renewed_within);
  opt.deployment = settle(opt.server);
  need_few_servers(*opt.type, opt.deployment.targets.size());
  complete_names(opt);
  if (opt.names.size() > 1 && !opt.type->only_one_key.empty())
    throw Error{Error::usage, fmt::format("--type {} with {} keys: {}", opt.type->name, opt.names.size(),
                                          opt.type->only_one_key)};
}

}  // namespace rlock
