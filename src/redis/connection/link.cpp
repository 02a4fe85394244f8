// One server, and its connections one after the other:
//
//   connection_     The current one, or null. It opens, serves and fails. failed() keeps what must outlive
//                   it, and starts the pause of the Backoff. After that the next call opens another
//                   connection.
//   abandoned_      Earlier connections whose server did not answer in time. They stay open, so that
//                   send_on_abandoned() can write undos and releases behind the calls that they carry.
//   second_pubsub_  For messages, if the server speaks only RESP2: there a connection with subscriptions
//                   cannot carry calls.
//
// Subscriptions belong to the link, not to a connection: each new pub/sub connection gets all of them.
//
// A lock may be held for days. Meanwhile servers are restarted, and certificate and password files are
// replaced. So each attempt reads the files again, and a failure is no reason to give up.

#include "redis/connection/link.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"

namespace rlock {
namespace {

/// At most this many abandoned connections are kept for send_on_abandoned(). If there are more, the server has been
/// silent for as many attempts, and the oldest connection is closed.
constexpr std::size_t kMostAbandoned = 4;

}  // namespace

Link::Link(Loop& loop, const Target& target, std::shared_ptr<const TlsContext> tls, Address address,
           const Timeouts& timeouts)
    : loop_(loop), target_(target), tls_(std::move(tls)), address_(std::move(address)), timeouts_(timeouts) {}

// --- the connection ------------------------------------------------------------------------------

Connection* Link::connection(TimePoint now) {
  advance(now);  // it may have failed since the last turn
  used_ = true;
  if (!connection_ && backoff_.due(now)) open(now);
  return connection_.get();
}

Greeting Link::greeting() const {
  return {.user = target_.user,
          .password = target_.password.read(),
          .resp3 = resp2_ == Connection::Resp2::no,
          .meant = {.primary = target_.to_primary, .db = target_.db},
          .ask_run_id = target_.ask_run_id,
          .after_silence = had_unanswered_,
          .to_known = contacted()};
}

std::unique_ptr<Connection> Link::new_connection(TimePoint now) {
  Connection::Options options{
      .address = address_, .tls = tls_, .greeting = greeting(), .open_within = timeouts_.connect};
  return std::make_unique<Connection>(loop_, std::move(options), now);
}

/// Certificates are renewed while locks are held. If a file cannot be used now, it is probably being replaced, so the
/// certificates that were read before are kept.
void Link::read_certificates_again() {
  if (!tls_) return;
  try {
    tls_ = tls_context(target_.tls);
  } catch (const Error& e) {
    debug(fmt::format("{}: keeping the previously loaded certificates", e.what()));
  }
}

void Link::open(TimePoint now) {
  backoff_.began(now);
  idle_backoff_.began(now);
  failure_.reset();
  if (std::exchange(opened_, true)) read_certificates_again();  // the constructor got the first ones
  try {
    connection_ = new_connection(now);
  } catch (const Error& error) {  // a password file that is being replaced is no reason to give up a lock
    return failed({error.kind(), error.what()}, now);
  }
  advance(now);
}

/// Keeps the facts that outlive the connection.
void Link::outlive_connection() {
  contacted_ = contacted();
  run_id_ = run_id();
  if (connection_) had_unanswered_ = connection_->has_unanswered();
}

void Link::failed(Failure why, TimePoint now) {
  outlive_connection();
  // A broken connection is not open, but may have served.
  const bool served = connection_ && connection_->opened_at() != TimePoint{};
  if (served) ++losses_;
  if (connection_ && connection_->open())
    debug(fmt::format("lost the connection to {}: {}", address_.str(), why.text));
  failure_ = std::move(why);
  failed_ = true;
  connection_.reset();
  second_pubsub_.reset();  // it has the same server, so it has failed too or will fail
  subscriptions_.disconnected();
  // If no call used the connection, its pause must not delay a call, because a renewal may have little time.
  (std::exchange(used_, false) ? backoff_ : idle_backoff_).ended(now);
}

/// Looks at the events of the connections since the last turn. Pushes come first, because they are lost with
/// their connection.
void Link::advance(TimePoint now) {
  drain_pushes(now);
  check_connection(now);
  subscribe(now);
}

/// If a server refuses RESP3 or hangs up on HELLO, the next connection opens at once, in RESP2. If the server only
/// hung up, and a connection in RESP2 fails too, HELLO may not have been the reason. Then RESP3 is tried again.
void Link::check_connection(TimePoint now) {
  if (!connection_ || !connection_->failure()) return;
  using Resp2 = Connection::Resp2;
  const Resp2 before = resp2_;
  const bool had_unanswered = had_unanswered_;
  if (before == Resp2::no) resp2_ = connection_->wants_resp2();
  if (before == Resp2::suspected) resp2_ = Resp2::no;
  failed(*connection_->failure(), now);
  if (before != Resp2::no || resp2_ == Resp2::no) return;
  // A call behind HELLO does not count as unanswered, because the server has just answered, or hung up.
  had_unanswered_ = had_unanswered;
  if (resp2_ == Resp2::certain) {
    backoff_.forget();
    idle_backoff_.forget();
  }
  open(now);
}

void Link::abandon(ConnectionNumber connection, TimePoint now) {
  if (find(connection) == nullptr) return;  // it has failed, or another call has abandoned it
  outlive_connection();
  connection_->stop_reading();
  if (!connection_->failure()) {                             // a broken connection carries nothing
    if (connection_->opened_at() != TimePoint{}) ++losses_;  // failed() does not see it any more
    abandoned_.push_back(std::move(connection_));
  }
  if (abandoned_.size() > kMostAbandoned) abandoned_.erase(abandoned_.begin());
  failed(no_answer_in_time(), now);
}

void Link::send_on_abandoned(const std::vector<Call>& calls) {
  for (auto& connection : abandoned_) connection->leave_behind(calls);
}

void Link::renew(ConnectionNumber connection, Failure why, TimePoint now) {
  if (find(connection) != nullptr) failed(std::move(why), now);
}

void Link::retire(TimePoint now) {
  subscriptions_.clear();
  if (connection_) failed({Error::unreachable, "retired"}, now);
}

Connection* Link::find(ConnectionNumber connection) {
  return connection_ && connection_->number() == connection ? connection_.get() : nullptr;
}

// --- subscriptions --------------------------------------------------------------------------------

/// The connection that gets messages; null: there is none.
Connection* Link::pubsub() const {
  return resp2_ == Connection::Resp2::no ? connection_.get() : second_pubsub_.get();
}

/// pubsub(), but only if the subscriptions were sent on it; else null.
Connection* Link::subscriber() const {
  Connection* const connection = pubsub();
  const bool subscribed = connection != nullptr && connection->number() == subscriptions_.connection();
  return subscribed ? connection : nullptr;
}

void Link::drain_pushes(TimePoint now) {
  if (Connection* connection = subscriber()) {
    for (const Push& push : connection->take_pushes()) {
      if (!subscriptions_.accept(push, now)) continue;
      info(fmt::format("{} refuses the subscription, so rlock polls: {}", address_.str(),
                       *subscriptions_.error()));
    }
  }
  if (second_pubsub_ && second_pubsub_->failure()) {  // calls continue on the first connection
    second_pubsub_.reset();
    subscriptions_.disconnected();
    pubsub_backoff_.ended(now);
  }
}

void Link::open_second(TimePoint now) {
  pubsub_backoff_.began(now);
  try {
    second_pubsub_ = new_connection(now);
  } catch (const Error&) {  // a password file that is being replaced; calls need no second one
    pubsub_backoff_.ended(now);
  }
}

/// Sends the subscriptions on a new pub/sub connection, or once more if the server could not accept them.
void Link::subscribe(TimePoint now) {
  if (!connection_ || now < subscriptions_.begin_at()) return;
  // Only if the first one is open, because until then it may turn out to speak RESP3, or be refused.
  const bool needs_second = resp2_ != Connection::Resp2::no && !second_pubsub_ && connection_->open();
  if (needs_second && pubsub_backoff_.due(now)) open_second(now);
  Connection* const connection = pubsub();
  if (connection == nullptr) return;
  for (const Subscription& wanted : subscriptions_.begin(connection->number())) connection->subscribe(wanted);
}

void Link::watch(const Subscription& wanted) {
  if (subscriptions_.add(wanted)) subscriber()->subscribe(wanted);
}

void Link::unwatch(const Subscription& unwanted) {
  if (!subscriptions_.remove(unwanted)) return;
  Connection& subscribed = *subscriber();
  subscribed.unsubscribe(unwanted);
  // No call ever flushes the second connection, and UNSUBSCRIBE has to arrive before the next call on the first.
  if (&subscribed != connection_.get()) subscribed.flush();
}

// --- the source ----------------------------------------------------------------------------------

TimePoint Link::wake_at() const {
  if (connection_ && connection_->failure()) return TimePoint::min();
  if (second_pubsub_ && second_pubsub_->failure()) return TimePoint::min();
  if (const Connection* connection = subscriber())
    return connection->has_pushes() ? TimePoint::min() : kNever;
  const TimePoint subscribe_at = subscriptions_.begin_at();
  if (subscribe_at == kNever) return kNever;
  if (!connection_)  // a caller listens, so reconnect without waiting for a call
    return std::max(backoff_.next(), idle_backoff_.next());
  if (pubsub() != nullptr) return subscribe_at;
  return connection_->open() ? std::max(subscribe_at, pubsub_backoff_.next()) : kNever;
}

void Link::ready(short, TimePoint now) {
  advance(now);
  const bool due = backoff_.due(now) && idle_backoff_.due(now);
  if (!connection_ && !subscriptions_.empty() && due) open(now);
}

}  // namespace rlock
