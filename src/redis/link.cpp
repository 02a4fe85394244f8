#include "redis/link.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"

namespace rlock {
namespace {

/// Abandoned connections that are kept for send_on_abandoned(). More than a few means that the server has
/// been gone for many attempts; the oldest ones have nothing left that would outlive a lease.
constexpr std::size_t kMostAbandoned = 4;

/// Before we ask again to listen, where a server could not let us just now.
constexpr Milliseconds kListenAgain{200};

}  // namespace

Link::Link(Loop& loop, const Target& target, std::shared_ptr<const TlsContext> tls, Address address,
           const Timeouts& timeouts)
    : loop_(loop), target_(target), tls_(std::move(tls)), address_(std::move(address)), timeouts_(timeouts) {
  loop_.join(*this);
}

Link::~Link() { loop_.leave(*this); }

// --- the connection ------------------------------------------------------------------------------

Connection* Link::connection() {
  const TimePoint now = Clock::now();
  advance(now);
  if (!connection_ && backoff_.due(now)) open(now);
  return connection_.get();
}

Greeting Link::greeting() const {
  return {.user = target_.user,
          .password = target_.password.read(),
          .db = target_.db,
          .resp3 = resp2_ == Connection::Resp2::no,
          .meant = {.primary = target_.to_primary},
          .ask_run_id = target_.ask_run_id,
          .after_silence = had_unanswered_};
}

std::unique_ptr<Connection> Link::attempt(TimePoint now) {
  return std::make_unique<Connection>(loop_, address_, tls_, greeting(), later(now, timeouts_.connect));
}

/// Certificates are renewed while locks are held. What cannot be
/// used just now is being replaced: then those from before serve.
void Link::read_certificates_again() {
  if (!tls_) return;
  try {
    tls_ = tls_context(target_.tls);
  } catch (const Error& e) {
    mention(fmt::format("{}: those from before serve on", e.what()));
  }
}

void Link::open(TimePoint now) {
  backoff_.began(now);
  failure_.reset();
  if (std::exchange(opened_, true)) read_certificates_again();
  try {
    connection_ = attempt(now);
  } catch (const Error& error) {  // a password file that is being replaced is no reason to give up a lock
    return failed({error.kind(), error.what()}, now);
  }
  advance(now);
}

void Link::failed(Failure why, TimePoint now) {
  contacted_ = contacted();
  if (connection_) had_unanswered_ = connection_->has_unanswered();
  if (connection_ && connection_->open())
    mention(fmt::format("lost the connection to {}: {}", address_.str(), why.text));
  failure_ = std::move(why);
  connection_.reset();
  second_pubsub_.reset();
  subscriber_ = nullptr;
  backoff_.ended(now);
}

/// Looks at what became of the connections since the last turn.
void Link::advance(TimePoint now) {
  drain_messages(now);
  check_connection(now);
  listen(now);
}

void Link::check_connection(TimePoint now) {
  if (!connection_ || !connection_->failure()) return;
  using Resp2 = Connection::Resp2;
  const Resp2 before = resp2_;
  if (before == Resp2::no) resp2_ = connection_->wants_resp2();
  if (before == Resp2::suspected) resp2_ = Resp2::no;  // it was worth a try
  failed(*connection_->failure(), now);
  if (before == Resp2::no && resp2_ != Resp2::no) open(now);
}

void Link::abandon(std::uint64_t connection) {
  if (find(connection) == nullptr) return;
  contacted_ = contacted();
  loop_.leave(*connection_);
  had_unanswered_ = connection_->has_unanswered();
  connection_->stop_reading();
  if (!connection_->failure()) abandoned_.push_back(std::move(connection_));
  if (abandoned_.size() > kMostAbandoned) abandoned_.erase(abandoned_.begin());
  failed({Error::unreachable, "no answer in time"}, Clock::now());
}

void Link::send_on_abandoned(const Call& call) {
  for (auto& connection : abandoned_) connection->leave_behind(call);
}

void Link::renew(std::uint64_t connection, Failure why) {
  if (find(connection) != nullptr) failed(std::move(why), Clock::now());
}

void Link::retire() {
  watched_.clear();
  if (connection_) failed({Error::unreachable, "retired"}, Clock::now());
}

Connection* Link::find(std::uint64_t connection) {
  return connection_ && connection_->number() == connection ? connection_.get() : nullptr;
}

// --- listening -----------------------------------------------------------------------------------

/// The connection on which announcements come, if it is there.
Connection* Link::pubsub() const {
  return resp2_ == Connection::Resp2::no ? connection_.get() : second_pubsub_.get();
}

/// Tells the connection that should listen what to listen to, once.
void Link::listen(TimePoint now) {
  if (watched_.empty() || subscribe_error_ || now < listen_at_ || !connection_) return;
  const bool needs_second = resp2_ != Connection::Resp2::no && !second_pubsub_ && connection_->open();
  if (needs_second && pubsub_backoff_.due(now)) {
    pubsub_backoff_.began(now);
    try {
      second_pubsub_ = attempt(now);
    } catch (const Error&) {  // the password file again
      pubsub_backoff_.ended(now);
    }
  }
  if (pubsub() == nullptr || pubsub() == subscriber_) return;
  subscriber_ = pubsub();
  for (const Wish& wish : watched_) subscriber_->subscribe(wish.channel, wish.sharded);
}

void Link::drain_messages(TimePoint now) {
  if (subscriber_ != nullptr)
    for (const Push& push : subscriber_->take_pushes()) accept(push, now);
  if (second_pubsub_ && second_pubsub_->failure()) {
    second_pubsub_.reset();
    subscriber_ = nullptr;
    pubsub_backoff_.ended(now);
  }
}

/// A sharded subscription that cannot be here: the slot has moved, or the server is older than Redis 7. The
/// plain one beside it goes on, and hears what such a server announces.
bool Link::sent_away(const Push& push) {
  if (!push.sharded || push.kind == Push::Kind::message || push.kind == Push::Kind::subscribed) return false;
  if (push.kind == Push::Kind::refused && is_passing(push.reply)) return false;
  watched_.erase({push.channel, true});
  misplaced_ = misplaced_ || push.kind == Push::Kind::unsubscribed || push.reply.is_error("MOVED");
  return true;
}

void Link::accept(const Push& push, TimePoint now) {
  if (!watched_.contains({push.channel, push.sharded}) || sent_away(push)) return;
  switch (push.kind) {
    case Push::Kind::message:
    case Push::Kind::subscribed: ++wakeups_; return;
    case Push::Kind::unsubscribed: break;
    case Push::Kind::refused:
      if (is_passing(push.reply)) break;
      subscribe_error_ = failure_of(push.reply).text;
      tell(fmt::format("{} does not let us listen, so we ask again and again: {}", address_.str(),
                       *subscribe_error_));
      return;
  }
  subscriber_ = nullptr;
  listen_at_ = later(now, kListenAgain);
}

void Link::watch(const Channel& channel, bool sharded) {
  if (!watched_.insert({channel, sharded}).second) return;
  if (subscriber_ != nullptr) subscriber_->subscribe(channel, sharded);
}

void Link::unwatch(const Channel& channel, bool sharded) {
  if (watched_.erase({channel, sharded}) != 0 && subscriber_ != nullptr)
    subscriber_->unsubscribe(channel, sharded);
}

// --- the source ----------------------------------------------------------------------------------

TimePoint Link::wake_at() const {
  if (connection_ && connection_->failure()) return TimePoint::min();
  if (second_pubsub_ && second_pubsub_->failure()) return TimePoint::min();
  if (subscriber_ != nullptr) return subscriber_->has_pushes() ? TimePoint::min() : kNever;
  if (watched_.empty() || subscribe_error_) return kNever;
  if (!connection_) return backoff_.next();
  if (pubsub() != nullptr) return listen_at_;
  return connection_->open() ? std::max(listen_at_, pubsub_backoff_.next()) : kNever;
}

void Link::ready(short, TimePoint now) {
  advance(now);
  if (!connection_ && !watched_.empty() && backoff_.due(now)) open(now);
}

}  // namespace rlock
