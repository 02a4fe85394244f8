#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/names.h"
#include "base/time.h"
#include "cmd/hold/command/held_command.h"
#include "cmd/hold/report/not_held.h"
#include "cmd/hold/request/hold_request.h"
#include "redis/redis.h"
#include "sync/hold/release.h"
#include "sync/records/hold_outcome.h"
#include "sync/wait/acquire.h"
#include "sync/wait/ballot.h"

namespace rlock {

/// How a hold went and ended. For a run, it is also the record: one line of JSON, which is unambiguous, unlike an exit
/// status.
struct HoldReport {
  /// Were the keys released? One word for all of them.
  enum class KeysEnd { yes, no, kept, unknown };

  /// One node of a quorum.
  struct Node {
    std::string url;  ///< without secrets
    Answer said;      ///< "late": it had not answered when enough others had
  };

  HoldOutcome outcome = HoldOutcome::error;
  int exit = 0;                       ///< exit status of rlock
  std::optional<int> command_exit;    ///< set if the command exited, and no signal ended it
  std::optional<int> command_signal;  ///< set if a signal ended the command
  bool locked = false;                ///< rlock acquired the lock
  std::vector<LockName> keys;
  std::string type;
  std::optional<Owner> owner;
  std::optional<std::int64_t> fence;
  std::optional<std::vector<std::int64_t>> slots;
  std::optional<Milliseconds> waited, held;
  std::optional<KeysEnd> released;  ///< empty: nothing was held, or rlock failed before the answer
  std::optional<std::vector<Node>> nodes;
  std::optional<std::string> error;  ///< for people

  std::string json() const;
};

/// The answer of a node, as a word of the record.
std::string_view text_of(Answer answer);

/// The outcome of a run whose wait succeeded.
HoldOutcome outcome_of(const CommandOutcome& ended, Lost lost);

/// The facts before anything was asked: keys and type.
HoldReport report_of(const HoldRequest& request);

/// Records that an error ended the run.
void report_failed(HoldReport& report, const Error& error);

/// There is no lock: records the reason and the exit status.
void report_gave_up(HoldReport& report, const Redis& redis, const GaveUp& gave_up, int exit);
void report_gave_up(HoldReport& report, const Redis& redis, const GaveUp& gave_up, const NotHeld& not_held);

/// Records that the lock was acquired.
void report_acquired(HoldReport& report, const Redis& redis, const Owner& owner, const Acquired& acquired,
                     Milliseconds waited);

/// What became of a lock whose command could not start in time (CommandOutcome::How::too_late).
constexpr std::string_view kTooLate = "granted too late to start the command";

/// Records that the command has ended. `why_lost`: empty if the lock was not lost.
void report_ended(HoldReport& report, const CommandOutcome& ended, const std::optional<std::string>& why_lost,
                  Milliseconds held, int exit);

/// The result of the release for all keys together: the worst counts.
HoldReport::KeysEnd released_of(const std::vector<ReleaseResult>& answers);

/// The same of an undo. `no`: the owner held all keys before, so there was nothing to release.
HoldReport::KeysEnd released_of(const std::vector<Undone>& undone);

}  // namespace rlock
