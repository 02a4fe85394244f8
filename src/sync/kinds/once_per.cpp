#include "sync/kinds/once_per.h"

#include <algorithm>

#include "scripts.h"
#include "sync/calls/keys.h"
#include "sync/calls/values.h"

namespace rlock {

Call OncePer::status(const LockName& name) {
  return call_of(scripts::once_status, {{Parameter::lock, name.str()}, {Parameter::done, done_key(name)}});
}

std::optional<OncePer::Done> OncePer::read_status(const Reply& reply) {
  if (reply.kind() != Reply::Kind::array || reply.at(0).kind() != Reply::Kind::text) return std::nullopt;
  const auto is_number = [&](std::size_t item) { return reply.at(item).kind() == Reply::Kind::integer; };
  const bool complete =
      is_number(1) && is_number(2) && is_number(3) && reply.at(4).kind() == Reply::Kind::text;
  if (reply.at(0).text() != "done" || !complete) return std::nullopt;
  return Done{.since = std::max(reply.at(1).milliseconds() - reply.at(2).milliseconds(), Milliseconds{0}),
              .rest = reply.at(3).milliseconds(),
              .facts = reply.at(4).text()};
}

Call OncePer::release(const ReleaseOptions& options) const {
  Call call = lock_->release(options);
  if (!options.keep_until) return call;
  const bool fair = call.script == &scripts::fair_release;
  return call_with(call, fair ? scripts::once_fair_release : scripts::once_lock_release,
                   {{Parameter::done, done_key(name())}, {Parameter::done_by, facts_}});
}

Released OncePer::decode_release(const Reply& reply) const {
  ReleaseAnswer answer = lock_->read_release(reply);
  if (const auto* failure = std::get_if<Failure>(&answer)) failure->throw_error();
  return std::get<Released>(std::move(answer));
}

}  // namespace rlock
