// Finds the primary. begin() asks the first Sentinel of order_; advance() takes its answer, or asks the next
// one. The search ends with found_, or with failure_ if no Sentinel is left. Only one Sentinel is asked at a
// time, for its share of the time to connect, so that all are tried in time. A Sentinel that answered moves
// to the front of order_, and is asked first next time.
//
// A Sentinel may be asked up to three times: with our password, without it, and in RESP2. Many Sentinels have
// no password, or another one than the servers.
//
// A Sentinel's answer may be outdated, so the caller checks it, and disbelieve() continues with the other Sentinels. If
// they name the same server, the search ends.
// If no Sentinel knows a primary, the most helpful reason is reported: "it knows no primary called x" says more than
// "connection refused".

#include "redis/route/primary_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/text.h"

namespace rlock {
namespace {

/// The primary's address in a Sentinel's reply. Empty if it is no valid address.
std::optional<Address> read_address(const Reply& reply) {
  if (reply.kind() != Reply::Kind::array || reply.items().size() != 2) return std::nullopt;
  if (reply.at(0).kind() != Reply::Kind::text || reply.at(1).kind() != Reply::Kind::text) return std::nullopt;
  const std::string& host = reply.at(0).text();
  return host.empty() ? std::nullopt : announced_address(host, parse_count(reply.at(1).text()));
}

}  // namespace

PrimarySearch::PrimarySearch(Loop& loop, const Target& target, std::shared_ptr<const TlsContext> tls,
                             const Timeouts& timeouts)
    : loop_(loop),
      target_(target),
      tls_(std::move(tls)),
      share_(timeouts.share_of_one(target.addresses.size())),
      order_(target.addresses.size()) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
}

void PrimarySearch::begin(TimePoint now) {
  position_ = 0;
  disbelieved_.reset();
  best_reason_.reset();
  ask_next(now);
}

void PrimarySearch::disbelieve(const Address& server, Failure why, TimePoint now) {
  disbelieved_ = server;
  remember(Weight::stale, std::move(why));
  ask_next(now);
}

void PrimarySearch::ask_next(TimePoint now) {
  found_.reset();
  failure_.reset();
  refused_.reset();
  resp3_ = true;  // the next Sentinel may support it
  with_password_ = !target_.password.empty() || !target_.user.empty();
  if (position_ < order_.size()) return ask(now);
  connection_.reset();
  failure_ = best_reason_;
  if (weight_ == Weight::silent) failure_->text = fmt::format("no Sentinel answers ({})", failure_->text);
}

void PrimarySearch::ask(TimePoint now) {
  Greeting greeting{.resp3 = resp3_, .meant = {.sentinel = true, .db = target_.db}};
  deadline_ = plus(now, share_);
  try {
    if (with_password_)
      greeting = {.user = target_.user,
                  .password = target_.password.read(),
                  .resp3 = resp3_,
                  .meant = greeting.meant};
    Connection::Options options{
        .address = sentinel(), .tls = tls_, .greeting = std::move(greeting), .open_within = share_};
    connection_ = std::make_unique<Connection>(loop_, std::move(options), now);
  } catch (const Error& error) {
    // The password file is being replaced, or no process could be started for the look-up. The caller
    // searches again.
    connection_.reset();
    failure_ = Failure{error.kind(), error.what()};
    return;
  }
  in_flight_ = connection_->send(command({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", target_.master}));
}

void PrimarySearch::advance(TimePoint now) {
  if (!connection_) return;
  if (in_flight_->reply) return accept(*in_flight_->reply, now);
  if (!connection_->failure() && now < deadline_) return;

  const Failure why = connection_->failure().value_or(no_answer());
  // Asks the same Sentinel in another way before the next one.
  if (resp3_ && connection_->wants_resp2() != Connection::Resp2::no) {
    resp3_ = false;
    return ask(now);
  }
  if (with_password_ && why.kind == Error::denied) {  // it may have no password, or another one
    with_password_ = false;
    refused_ = why;
    return ask(now);
  }
  // If the Sentinel refused our password, that is the better reason. Without a password, it only says that it wants
  // one.
  pass(why.needs_a_person() ? Weight::denied : Weight::silent, refused_.value_or(why), now);
}

void PrimarySearch::accept(const Reply& reply, TimePoint now) {
  if (reply.is_error()) {
    const Failure why = failure_of(reply);
    return pass(Weight::denied, refused_.value_or(why), now);
  }
  if (reply.is_nil()) {
    return pass(Weight::unknown,
                {Error::unreachable, "it knows no primary called " + in_quotes(target_.master)}, now);
  }
  found_ = read_address(reply);
  if (!found_)
    return pass(Weight::unknown, {Error::unreachable, "it does not say where the primary is"}, now);
  const auto here = order_.begin() + static_cast<std::ptrdiff_t>(position_);
  std::rotate(order_.begin(), here, here + 1);
  ++position_;  // disbelieve() continues with the Sentinels that were not asked
  // Each new attempt at a silent server would take as long as the first, and the call would end before the reason is
  // known.
  if (found_ == disbelieved_) return ask_next(now);
  connection_.reset();
}

/// This Sentinel did not name a primary that can be used. Notes why, and asks the next one.
void PrimarySearch::pass(Weight weight, Failure why, TimePoint now) {
  remember(weight, of_server(asked(), std::move(why)));
  ++position_;
  ask_next(now);
}

void PrimarySearch::remember(Weight weight, Failure why) {
  if (best_reason_ && weight < weight_) return;
  weight_ = weight;
  best_reason_ = std::move(why);
}

TimePoint PrimarySearch::wake_at() const {
  if (found_ || failure_) return TimePoint::min();  // its owner has not read the result yet
  if (!connection_) return kNever;
  return in_flight_->reply || connection_->failure() ? TimePoint::min() : deadline_;
}

}  // namespace rlock
