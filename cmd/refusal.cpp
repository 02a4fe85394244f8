#include "cmd/refusal.h"

#include <fmt/format.h>

#include "base/log.h"
#include "cmd/exit_code.h"

namespace rlock {

int say_refusal(const GaveUp& gave_up, std::string_view what, const std::string& server, int busy) {
  if (gave_up.why == GaveUp::Why::busy) {
    tell(fmt::format("{} is held by somebody else", what));
    return busy;
  }
  if (gave_up.refused) {
    complain(gave_up.refused->text);
    return gave_up.refused->why == Refused::Why::absent ? exit_code::no : exit_code::wrong_type;
  }
  const Failure failure = gave_up.failure.value_or(Failure{Error::unreachable, "no answer"});
  complain(fmt::format("cannot use redis at {}: {}", server, failure.text));
  return exit_code::of(failure.kind);
}

}  // namespace rlock
