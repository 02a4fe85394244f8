#pragma once

#include <optional>

#include "cmd/cli/options.h"

namespace rlock {

/// How long to wait, and the exit status when that was in vain. The same for every verb that waits.
struct WaitOptions {
  bool nonblock = false;              ///< one try
  std::optional<Milliseconds> limit;  ///< counted from rlock's start; nothing: for ever
  bool given = false;           ///< --wait was typed, or has a default: then the server is waited for as well
  bool typed_nonblock = false;  ///< -n was typed, and not --wait 0
  std::int64_t conflict_exit_code;  ///< exit status when not acquired

  WaitOptions();

  TimePoint until(TimePoint started) const { return limit ? plus(started, *limit) : kNever; }

  /// Is a server that does not answer still waited for?
  bool goes_on(TimePoint started) const { return given && Clock::now() < until(started); }

  /// The patience of a call before the wait: at most `time`, and within the limit of --wait.
  Patience one_call(TimePoint started, Milliseconds time) const {
    Patience patience = within(time);
    if (given) patience.until = earliest(patience.until, until(started));
    return patience;
  }
};

/// -n, -w and -E. Of -n and -w the later counts.
void declare_wait(VerbSpec& spec, WaitOptions& options);

}  // namespace rlock
