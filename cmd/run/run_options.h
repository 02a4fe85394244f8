#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/cli/options.h"
#include "cmd/run/hold_request.h"

namespace rlock {

/// What to do if no server can be used. By default the exit status is 69.
enum class IfUnreachable {
  fail,  ///< exit with status 69
  skip,  ///< do not run the command; exit with status 0
  run,   ///< run the command without a lock
};

/// The options of `rlock run`: what to hold, and the command. After complete_run() they have no contradictions.
struct RunOptions : HoldRequest {
  std::string mode_after_key;     ///< a type switch after a --key; it counts for all keys: "-s"
  std::string mode_between_keys;  ///< the same, if another --key followed

  IfUnreachable if_unreachable = IfUnreachable::fail;

  std::optional<Milliseconds> max_hold;    ///< the command is stopped this long after the acquire
  bool until_group = false;                ///< release when the last member of the command's group has ended
  bool die_of_its_signal = true;           ///< die of the signal that ended the command; false: exit with 128
                                           ///< + the signal
  std::optional<int> not_executed;         ///< exit with this status instead of 126 and 127
  std::optional<Milliseconds> lost_grace;  ///< as typed; budget.lost_grace counts

  bool show_args = false;  ///< show the arguments of the command too
  std::optional<std::int64_t> status_fd;
  std::string status_file;

  std::vector<std::string> command;  ///< argv, unchanged; with -c: /bin/sh -c STRING
  std::string found;                 ///< its path in PATH when rlock started
  bool command_marked = false;       ///< "--" stood before it
  bool scrub_password = false;       ///< remove passwords from its environment
};

/// --if-unreachable.
void declare_if_unreachable(VerbSpec& spec, RunOptions& options);

/// Declares the options of `run`, which write into `options`; `shell` is the STRING of -c.
void declare_run(VerbSpec& spec, RunOptions& options, std::optional<std::string>& shell);

/// Checks combinations of options, resolves the deployment and plans the budget. `command`: the words after
/// the options. Throws Error{usage} and Error{config}. It sends nothing.
void complete_run(RunOptions& options, const std::optional<std::string>& shell,
                  std::vector<std::string> command);

}  // namespace rlock
