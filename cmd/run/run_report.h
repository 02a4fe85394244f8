#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/names.h"
#include "base/time.h"
#include "cmd/run/held_command.h"
#include "cmd/run/run_options.h"
#include "redis/executor.h"
#include "sync/hold/release.h"
#include "sync/wait/acquire.h"

namespace rlock {

/// How a run ended, in one line of JSON that no exit status can be confused with.
struct RunReport {
  enum class Outcome {
    ran,
    busy,
    unreachable,
    lost,
    max_hold,
    stopped,
    not_started,
    interrupted,
    deadlock,
    superseded,
    done,
    error
  };
  enum class Released { yes, no, kept, unknown };

  /// One node of a quorum.
  struct Node {
    std::string url;  ///< without secrets
    bool granted = false;
    std::string_view said{};  ///< granted, busy, refused, failed or late
  };

  Outcome outcome = Outcome::error;
  int exit = 0;                       ///< of rlock
  std::optional<int> command_exit;    ///< the command ended by itself with this status
  std::optional<int> command_signal;  ///< the command was ended by this signal
  bool locked = false;                ///< rlock acquired the lock
  std::vector<LockName> keys;
  std::string type;
  std::optional<Owner> owner;
  std::optional<std::int64_t> fence;
  std::optional<std::vector<std::int64_t>> slots;
  std::optional<Milliseconds> waited, held;
  std::optional<Released> released;
  std::optional<std::vector<Node>> nodes;
  std::optional<std::string> error;  ///< for a person

  std::string json() const;
};

/// What a node answered, in the word of the status record; "late": nothing, before enough others had decided.
std::string_view text_of(Answer answer);

std::string_view text_of(RunReport::Outcome outcome);

/// How a run ended whose command was to run; `lost`: its lock was lost.
RunReport::Outcome outcome_of(const CommandOutcome& ended, bool lost);

/// What is known before anything has been asked: keys and type.
RunReport report_of(const RunOptions& options);

/// A failure ended the run.
void report_failed(RunReport& report, const Error& error);

/// No lock: why, and which exit status says so.
void report_gave_up(RunReport& report, const Executor& redis, const GaveUp& gave_up, int exit);

/// The lock is ours.
void report_taken(RunReport& report, const Executor& redis, const Owner& owner, const Taken& taken,
                  Milliseconds waited);

/// The command has ended. `lost`: why the lock was lost; nothing: it was not.
void report_ended(RunReport& report, const CommandOutcome& ended, const std::optional<std::string>& lost,
                  Milliseconds held, int exit);

/// What became of the release, of all keys together: the worst counts.
RunReport::Released released_of(const std::vector<ReleaseResult>& answers);

}  // namespace rlock
