#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/cli/options.h"
#include "cmd/run/hold_request.h"

namespace rlock {

/// What happens when the server cannot be used and the exit status would be 69.
enum class IfUnreachable {
  fail,  ///< 69
  skip,  ///< the command does not run; 0
  run,   ///< the command runs without a lock
};

/// The options of `rlock run`, checked: what to hold, and the command that runs meanwhile. Nothing in it
/// contradicts anything else, and nothing has been sent yet.
struct RunOptions : HoldRequest {
  std::string mode_after_key;     ///< what was typed after a key and counts for all: "-s"
  std::string mode_between_keys;  ///< the same, where another key followed

  IfUnreachable if_unreachable = IfUnreachable::fail;

  std::optional<Milliseconds> max_hold;    ///< the command is stopped so long after the acquire
  bool until_group = false;                ///< release when the last member of the command's group has ended
  bool die_of_its_signal = true;           ///< as the command did; else rlock exits with 128 and the number
  std::optional<Milliseconds> lost_grace;  ///< as typed; budget.lost_grace is what counts

  bool show_args = false;  ///< tells the arguments of the command, too
  std::optional<std::int64_t> status_fd;
  std::string status_file;
  std::string events;  ///< a path, or the number of a descriptor; empty: nowhere
  std::string syslog;  ///< the socket of a log; empty: nowhere

  std::vector<std::string> command;  ///< argv, byte for byte; of -c: /bin/sh -c STRING
  std::string found;                 ///< where PATH had it when rlock started
  bool command_marked = false;       ///< "--" stood before it
  bool scrub_password = false;       ///< no password in its environment
};

/// --if-unreachable.
void declare_if_unreachable(VerbSpec& spec, RunOptions& options);

/// Declares the options of `run`, each writing into `options`; `shell` is the STRING of -c.
void declare_run(VerbSpec& spec, RunOptions& options, std::optional<std::string>& shell);

/// Checks what needs more than one option, resolves the deployment and plans the budget. `command`: the words
/// after the options. Throws Error{usage} and Error{config}; nothing has been sent then.
void complete_run(RunOptions& options, const std::optional<std::string>& shell,
                  std::vector<std::string> command);

}  // namespace rlock
