#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/names.h"
#include "cmd/cli/wait_options.h"
#include "cmd/run/lock_types.h"
#include "cmd/server/deployment.h"
#include "sync/lease.h"

namespace rlock {

/// The options of `rlock run`, and of `lock acquire` those that it declares. After complete_run() nothing in
/// it contradicts anything else, and nothing has been sent yet; `lock acquire` checks its own.
struct RunOptions {
  TimePoint started;  ///< of rlock: waits are counted from here

  // What to take.
  std::vector<std::string> keys;  ///< as typed
  std::string mode_after_key;     ///< what was typed after a key and counts for all: "-s"
  std::string mode_between_keys;  ///< the same, where another key followed
  std::vector<LockName> names;    ///< with the prefix; sorted, each once
  const LockType* type = nullptr;
  std::optional<std::int64_t> permits;  ///< of --type permit: the size of the pool
  std::int64_t count = 1;               ///< of --type permit: how many to take

  // How long to wait, where.
  WaitOptions wait;
  ServerOptions server;   ///< as typed
  Deployment deployment;  ///< as resolved
  bool quorum_all = false;
  std::int64_t sync_replicas = 0;
  Milliseconds sync_timeout{1000};
  std::optional<Waitable::Pause> backoff;

  // How long to hold.
  Milliseconds lease{30000};  ///< how long a silent holder keeps the lock
  bool renew = true;
  Milliseconds min_hold{0};              ///< the key stays at least this long after the acquire
  std::optional<Milliseconds> max_hold;  ///< the command is stopped so long after the acquire
  std::optional<Milliseconds> once_per;  ///< after a success the key stays so long after the acquire
  bool until_group = false;              ///< release when the last member of the command's group has ended

  /// How long the key stays after the acquire, where it does: never both of them.
  Milliseconds kept_for() const { return once_per.value_or(min_hold); }

  // How to stop it.
  bool stop_on_loss = true;         ///< --on-lost
  bool give_up_on_deadlock = true;  ///< --on-deadlock
  int signal = 15;
  Milliseconds kill_after{5000};           ///< between signal and KILL at --max-hold
  std::optional<Milliseconds> lost_grace;  ///< as typed; budget.lost_grace is what counts
  Budget budget;

  // What to tell.
  std::string reason;
  std::map<std::string, std::string> labels;
  bool show_args = false;  ///< the arguments of the command, too
  std::optional<std::int64_t> status_fd;
  std::string status_file;

  std::vector<std::string> command;  ///< argv, byte for byte; of -c: /bin/sh -c STRING
  std::string found;                 ///< where PATH had it when rlock started
  bool command_marked = false;       ///< "--" stood before it
  bool scrub_password = false;       ///< no password in its environment
};

/// Declares the options of `run`, each writing into `options`; `shell` is the STRING of -c.
VerbSpec declare_run(RunOptions& options, std::optional<std::string>& shell);

/// A reason as it is typed, which is shown on one line. Throws Error{usage} for a long one.
Setter reason_into(std::string& reason);

/// Those that `lock acquire` has, too: --signal, --on-lost, --reason and --label, --sync-replicas and
/// --sync-timeout.
void declare_signal(VerbSpec& spec, RunOptions& options, std::string_view manual);
void declare_on_lost(VerbSpec& spec, RunOptions& options, std::string_view help, std::string_view manual);
void declare_remarks(VerbSpec& spec, RunOptions& options);
void declare_sync_replicas(VerbSpec& spec, RunOptions& options);

/// Checks what needs more than one option, resolves the deployment and plans the budget. `command`: the words
/// after the options. Throws Error{usage} and Error{config}; nothing has been sent then.
void complete_run(RunOptions& options, const std::optional<std::string>& shell,
                  std::vector<std::string> command);

/// A signal as people write it: "TERM", "SIGTERM", "15". Throws Error{usage}.
int parse_signal(std::string_view text);

}  // namespace rlock
