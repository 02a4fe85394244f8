#include "sync/semaphore.h"

#include "base/random.h"
#include "scripts.h"
#include "sync/answers.h"
#include "sync/arguments.h"
#include "sync/keys.h"
#include "sync/kind.h"
#include "sync/pool.h"
#include "sync/requests.h"

namespace rlock {

Semaphore::Semaphore(LockName name, std::int64_t count, PubSub pub_sub)
    : name_(std::move(name)), count_(count), pub_sub_(pub_sub), request_(request_key(name_, new_request())) {}

std::vector<Channel> Semaphore::channels() const { return {permits_channel(name_)}; }

Call Semaphore::ask(Milliseconds) const {
  return {.script = &scripts::semaphore_acquire,
          .keys = {name_.str(), request_},
          .args = {std::to_string(count_), number(kRequestMemory)}};
}

Attempt Semaphore::decode(const Reply& reply) const {
  if (word_of(reply) == "busy") return busy_pool(reply.at(1));
  if (word_of(reply) == "absent") return refuse_absent(name_, PoolKind::semaphore);
  return decode_attempt({.name = name_}, kinds::semaphore.noun, reply);
}

std::optional<Call> Semaphore::undo(Wake) const {
  return Call{
      .script = &scripts::semaphore_undo,
      .keys = {name_.str(), request_},
      .args = {std::to_string(count_), permits_channel(name_).str(), word(pub_sub_), number(kRequestMemory)}};
}

}  // namespace rlock
