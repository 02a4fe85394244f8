#include "sync/kinds/semaphore.h"

#include <utility>

#include "base/random.h"
#include "base/text.h"
#include "scripts.h"
#include "sync/kinds/answers.h"
#include "sync/kinds/arguments.h"
#include "sync/kinds/keys.h"
#include "sync/kinds/kind.h"
#include "sync/kinds/pool.h"
#include "sync/kinds/requests.h"

namespace rlock {

Semaphore::Semaphore(Claim claim, std::int64_t count, Absent absent)
    : claim_(std::move(claim)),
      count_(count),
      absent_(absent),
      line_(claim_, permits_channel(claim_.name)),
      request_(request_key(claim_.name, new_request())) {}

Call Semaphore::ask(Milliseconds waited) const {
  Call call{.script = &scripts::semaphore_acquire,
            .keys = {claim_.name.str(), request_},
            .args = {claim_.owner.str(), std::to_string(count_), number(kRequestMemory)}};
  append(call.keys, line_.keys());
  append(call.args, line_.arguments(waited));
  call.args.emplace_back(absent_ == Absent::await ? "wait" : "");
  return call;
}

Attempt Semaphore::decode(const Reply& reply) const {
  if (word_of(reply) == "absent") return refuse_absent(claim_.name, PoolKind::semaphore);
  return decode_attempt(claim_, kinds::semaphore.noun, reply);
}

std::optional<Call> Semaphore::undo(Wake) const {
  Call call{.script = &scripts::semaphore_undo,
            .keys = {claim_.name.str(), request_},
            .args = {claim_.owner.str(), std::to_string(count_), line_.releases().str(), word(claim_.pub_sub),
                     number(kRequestMemory)}};
  append(call.keys, line_.keys());
  return call;
}

}  // namespace rlock
