#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "redis/redis.h"
#include "sync/lockable.h"

namespace rlock {

/// What one deployment said to a question, in a word.
enum class Said {
  granted,
  busy,     ///< somebody else has it there
  refused,  ///< something else stands under the key there
  failed,   ///< no answer, or an error
  nothing,  ///< it had not answered when enough others had
};

/// What one round of asking came to. At most one of held,
/// refused, busy and failure; none: it was interrupted.
struct Round {
  std::optional<Held> held;        ///< a quorum granted it
  std::optional<Refused> refused;  ///< a quorum never can
  std::optional<Busy> busy;        ///< a quorum could, but others have it
  std::optional<Failure>
      failure;  ///< no quorum could: too many do not answer. Another kind than unreachable: for good

  std::vector<Said> said;       ///< by each deployment
  TimePoint asked = kNever;     ///< held: before the first of the questions that were granted
  bool split = false;           ///< some granted it, and no other has a quorum either
  bool may_be_granted = false;  ///< some granted it, or heard the question, but we do not hold it
};

/// Reads the votes of all deployments on one question.
Round count(const Waitable& what, const Redis& redis, const Votes& votes);

/// When a round is over: at once when a quorum has granted; when no quorum can any more, after the others
/// have had as long again, because an answer that is awaited needs not be undone.
class Decision {
 public:
  /// REQUIRES: both outlive it.
  Decision(const Waitable& what, const Redis& redis) : what_(what), redis_(redis), begun_(Clock::now()) {}

  TimePoint enough_from(const Votes& votes);

 private:
  const Waitable& what_;
  const Redis& redis_;
  const TimePoint begun_;
  std::optional<TimePoint> hopeless_since_;
};

}  // namespace rlock
