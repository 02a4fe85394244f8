#pragma once

#include <string_view>

namespace rlock {

/// How a hold ended, or the wait for it: the `outcome` in the record of a run, in its events and in the history.
enum class HoldOutcome {
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
  error,
  killed,    ///< rlock was killed
  released,  ///< its owner, which was no run, released it
  removed,   ///< it was removed by force
  unknown    ///< another version wrote it into the history
};

/// Its word in JSON, such as "max-hold".
std::string_view text_of(HoldOutcome outcome);

/// The outcome that has this word.
HoldOutcome outcome_in(std::string_view word);

}  // namespace rlock
