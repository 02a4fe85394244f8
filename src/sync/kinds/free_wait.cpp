#include "sync/kinds/free_wait.h"

#include "base/error.h"
#include "scripts.h"
#include "sync/calls/answers.h"
#include "sync/calls/foreign.h"
#include "sync/calls/keys.h"
#include "sync/calls/kind.h"

namespace rlock {

Call FreeWait::encode(Milliseconds) const {
  Call call{.script = &scripts::inspect_free};
  for (const LockName& name : names_) call.keys.edit().push_back(name.str());
  return call;
}

std::vector<Channel> FreeWait::channels() const {
  std::vector<Channel> channels;
  for (const LockName& name : names_) {
    channels.push_back(lock_channel(name));
    channels.push_back(read_write_channel(name));
  }
  return channels;
}

AcquireAnswer FreeWait::decode(const Reply& reply) const {
  const std::string word = word_of(reply);
  if (word == "free") return Held{.server_time = reply.at(1).server_time()};
  if (word == "foreign") return refuse_foreign(named(reply.at(1)), kinds::lock.noun, reply.at(2).text());
  if (word != "busy") refuse_word("whether locks are free", reply);
  Busy busy = busy_until(reply.at(2), reply.at(3));
  busy.key = named(reply.at(1));
  return busy;
}

const LockName& FreeWait::named(const Reply& number) const {
  const auto place = static_cast<std::size_t>(number.integer() - 1);
  if (place >= names_.size()) throw Error{Error::internal, "the server named a key that there is not"};
  return names_[place];
}

}  // namespace rlock
