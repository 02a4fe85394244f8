#pragma once

#include <optional>
#include <string>

#include "cmd/cli/exit_code.h"
#include "cmd/cli/options.h"

namespace rlock {

/// The options of a verb that waits: how long it waits, and the exit status if the lock stays busy.
struct WaitOptions {
  bool nonblock = false;              ///< one try
  std::optional<Milliseconds> limit;  ///< counted from rlock's start; empty: for ever
  bool given = false;  ///< --wait was typed, or a default sets it: then rlock waits for the server, too
  bool typed_nonblock = false;               ///< -n was typed, and not --wait 0
  int conflict_exit_code = exit_code::busy;  ///< the exit status if the lock is not acquired

  /// How the user said `nonblock`: "-n", "--wait 0", or the setting that says 0.
  std::string nonblock_as_given() const;

  TimePoint until(TimePoint started) const { return limit ? plus(started, *limit) : kNever; }

  /// Should rlock still retry if the server does not answer?
  bool goes_on(TimePoint started, TimePoint now) const { return given && now < until(started); }

  /// The patience of a call before the wait: at most `time`, and within the limit of --wait.
  Patience one_call(TimePoint started, TimePoint now, Milliseconds time) const {
    return {.until = earliest(plus(now, time), given ? until(started) : kNever)};
  }
};

/// -n, -w and -E. If both -n and -w are given, the later one counts.
void declare_wait(VerbSpec& spec, WaitOptions& options);

/// The names that other tools have for -n.
void declare_nonblock_slips(VerbSpec& spec);

}  // namespace rlock
