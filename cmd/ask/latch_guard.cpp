#include "cmd/ask/latch_guard.h"

#include "sync/calls/foreign.h"
#include "sync/calls/keys.h"
#include "sync/kinds/latch.h"

namespace rlock {
namespace {

Vote answer_to(const Call& call, Redis& redis, const Patience& patience) {
  return redis.run_all(call, {}, patience).front();
}

CouldNotAsk refuse_closed(Redis& redis, const LockName& name, PoolKind wanted, const Patience& patience) {
  const Latch latch{name, PubSub::classic};  // it only asks, and announces nothing
  const Vote vote = answer_to(latch.record(), redis, patience);
  if (!vote.reply()) return vote.trouble();
  const auto record = latch.read_record(*vote.reply());
  if (!record || record->opened) return std::nullopt;
  // The record may be old, and the latch may be gone.
  const Vote stands = answer_to(latch.status(), redis, patience);
  if (!stands.reply()) return stands.trouble();
  if (stands.good_reply() == nullptr || latch.read(*stands.reply()).how != CounterAnswer::How::done)
    return std::nullopt;
  throw Error{Error::wrong_type, refuse_foreign(name, noun_of(wanted), kinds::latch).text};
}

}  // namespace

CouldNotAsk refuse_latch(Session& session, const LockName& name, PoolKind wanted, TimePoint started,
                         const WaitOptions& wait) {
  Patience patience = wait.one_call(started, session.now(), session.deployment.timeouts.command);
  patience.interrupted = [&session] { return session.signals.any(); };
  CouldNotAsk could_not_ask = refuse_closed(session.redis, name, wanted, patience);
  const bool goes_on = wait.goes_on(started, session.now()) ||
                       (!wait.given && session.redis.keeps_trying());  // as long as the wait itself retries
  if (goes_on || session.signals.any()) return std::nullopt;
  return could_not_ask;
}

void refuse_pool(Session& session, const LockName& name) {
  const std::string taken = taken_key(name);
  const Reply count = session.first_reply(command({"ZCARD", taken}, taken));
  if (count.kind() == Reply::Kind::integer && count.integer() > 0)
    throw Error{Error::wrong_type, refuse_foreign(name, kinds::latch.noun, kinds::permit).text};
}

}  // namespace rlock
