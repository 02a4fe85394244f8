#include "sync/kinds/arrival.h"

#include <utility>

#include "base/random.h"
#include "scripts.h"
#include "sync/calls/answers.h"
#include "sync/calls/arguments.h"
#include "sync/calls/line.h"
#include "sync/calls/requests.h"

namespace rlock {
namespace {

/// A waiter's description of itself is cut after this many bytes, because the server keeps it for a day.
constexpr std::size_t kLongestWho = 500;

/// The server remembers the request for this long, which is as long as it keeps the newest ticket. Otherwise
/// a late copy of the call could draw a newer ticket.
constexpr Milliseconds kTicketMemory = std::chrono::hours{24};

}  // namespace

Arrival::Arrival(Claim claim, const Kind& kind, const std::string& who)
    : claim_(std::move(claim)),
      kind_(&kind),
      who_(who.substr(0, kLongestWho)),
      request_(request_key(claim_.name, new_request())) {}

Call Arrival::encode(Milliseconds) const {
  Values all{{Parameter::lock, claim_.name.str()},
             {Parameter::request, request_},
             {Parameter::who, who_},
             {Parameter::kind, std::string{kind_->stored_as}},
             {Parameter::memory, in_ms(kTicketMemory)}};
  if (!claim_.owner.str().empty()) all.emplace_back(Parameter::owner, claim_.owner.str());
  append(all, Line{claim_, kind_->channel(claim_.name)}.values());
  return call_of(scripts::newest_arrive, std::move(all));
}

AcquireAnswer Arrival::decode(const Reply& reply) const {
  AcquireAnswer answer = decode_acquire(claim_, kind_->noun, reply);
  if (auto* const held = std::get_if<Held>(&answer))
    held->ticket = std::exchange(held->fence, std::nullopt).value_or(0);
  return answer;
}

}  // namespace rlock
