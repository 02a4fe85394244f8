#include "sync/kinds/semaphore.h"

#include <utility>

#include "base/random.h"
#include "scripts.h"
#include "sync/calls/answers.h"
#include "sync/calls/arguments.h"
#include "sync/calls/keys.h"
#include "sync/calls/kind.h"
#include "sync/calls/requests.h"
#include "sync/kinds/pool.h"

namespace rlock {

Semaphore::Semaphore(Claim claim, std::int64_t count, Absent absent)
    : claim_(std::move(claim)),
      count_(count),
      absent_(absent),
      line_(claim_, permits_channel(claim_.name)),
      request_(request_key(claim_.name, new_request())) {}

Values Semaphore::values() const {
  Values all{{Parameter::pool, claim_.name.str()},
             {Parameter::request, request_},
             {Parameter::owner, claim_.owner.str()},
             {Parameter::memory, in_ms(kRequestMemory)}};
  append(all, line_.values());
  return all;
}

Call Semaphore::encode(Milliseconds waited) const {
  Values all = values();
  append(all, {{Parameter::count, std::to_string(count_)},
               {Parameter::waited, line_.waited(waited)},
               {Parameter::absent, absent_ == Absent::await ? "wait" : ""}});
  return call_of(scripts::semaphore_acquire, std::move(all));
}

AcquireAnswer Semaphore::decode(const Reply& reply) const {
  if (word_of(reply) == "absent") return refuse_absent(claim_.name, PoolKind::semaphore);
  return decode_acquire(claim_, kinds::semaphore.noun, reply);
}

std::optional<Call> Semaphore::undo(Wake) const { return call_of(scripts::semaphore_undo, values()); }

}  // namespace rlock
