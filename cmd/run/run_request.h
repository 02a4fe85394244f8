#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cmd/hold/request/hold_request.h"
#include "cmd/server/server_setting.h"

namespace rlock {

/// What to do if no server can be used. By default the exit status is 69.
enum class IfUnreachable {
  fail,  ///< exit with status 69
  skip,  ///< do not run the command; exit with status 0
  run,   ///< run the command without a lock
};

/// What `rlock run` is asked for: what to hold, and the command. After complete_run() it has no contradictions.
struct RunRequest : HoldRequest {
  IfUnreachable if_unreachable = IfUnreachable::fail;

  std::optional<Milliseconds> max_hold;  ///< the command is stopped this long after the acquire
  bool until_group = false;              ///< release when the last member of the command's group has ended
  bool die_of_its_signal = true;         ///< die as the command died; false: exit with 128 + that signal
  std::optional<int> not_executed;       ///< exit with this status instead of 126 and 127
  bool or_script = false;                ///< see Command

  bool show_args = false;  ///< show the arguments of the command too
  std::optional<std::int64_t> status_fd;
  std::string status_file;

  std::vector<std::string> command;  ///< argv, unchanged; with -c: /bin/sh -c STRING
  bool scrub_password = false;       ///< remove passwords from its environment
};

/// Words of the command line with which complete_run() completes the request.
struct TypedRun {
  std::vector<std::string> keys;
  ServerOptions server;
  std::optional<std::string> shell;        ///< the STRING of -c
  std::optional<Milliseconds> lost_grace;  ///< --lost-grace; Budget::lost_grace counts
  bool command_marked = false;             ///< "--" stood before COMMAND
  std::string type;                        ///< the switch that chose the type: "-s"
  std::size_t keys_before_type = 0;        ///< this many keys stood before it
};

/// Checks combinations of options, resolves the deployment and plans the budget. `command`: the words after
/// the options. Throws Error{usage} and Error{config}. It sends nothing.
void complete_run(RunRequest& request, const TypedRun& typed, std::vector<std::string> command);

}  // namespace rlock
