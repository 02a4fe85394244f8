#include "sync/answers.h"

#include <fmt/format.h>

#include "base/key_text.h"
#include "base/text.h"
#include "sync/foreign.h"

namespace rlock {
namespace {

[[noreturn]] void unheard_of(std::string_view question, const Reply& reply) {
  throw Error{Error::internal, fmt::format("a script answered {} to {}", reply.at(0).integer(), question)};
}

Refused refuse_upgrade(const Claim& claim) {
  return {
      .why = Refused::Why::upgrade,
      .text = fmt::format("{} is held for reading by {} itself, and a read hold cannot become a write hold: "
                          "take it with --write (-x) from the start, or release it first",
                          quoted(claim.name), sanitized(claim.owner.str()))};
}

}  // namespace

Attempt read_attempt(const Claim& claim, std::string_view wanted, const Reply& reply) {
  switch (reply.at(0).integer()) {
    case 1: {
      Held held{.server_time = reply.at(1).milliseconds()};
      if (reply.items().size() > 2) held.fence = reply.at(2).integer();
      return held;
    }
    case 0: return busy_until(reply.at(1), reply.at(2));
    case 2:
      return Refused{.why = Refused::Why::absent,
                     .text = fmt::format("{} is not held by {} any more", quoted(claim.name),
                                         sanitized(claim.owner.str()))};
    case 3: return refuse_upgrade(claim);
    case -1: return refuse_foreign(claim.name, wanted, reply.at(1).text());
  }
  unheard_of("acquire", reply);
}

Released parse_release(const Reply& reply) {
  switch (reply.at(0).integer()) {
    case 1: return {.how = Released::How::yes, .unannounced = reply.at(1).text()};
    case 0: return {.how = Released::How::still_held};
    case 2: return {.how = Released::How::kept, .rest = reply.at(1).milliseconds()};
    case -1: return {.how = Released::How::was_not_ours};
  }
  unheard_of("release", reply);
}

Forced read_forced(const LockName& name, std::string_view wanted, const Reply& reply) {
  switch (reply.at(0).integer()) {
    case 1: return {.how = Forced::How::removed, .unannounced = reply.at(1).text()};
    case 0: return {.how = Forced::How::nothing_there};
    case 2: return {.how = Forced::How::other_owner, .other = reply.at(1).text()};
    case -1:
      return {.how = Forced::How::refused, .refused = refuse_foreign(name, wanted, reply.at(1).text())};
  }
  unheard_of("force", reply);
}

}  // namespace rlock
