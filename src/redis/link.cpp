#include "redis/link.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"

namespace rlock {
namespace {

/// Condemned connections that are kept for a farewell. More than a few means that the server has been gone for many attempts;
/// the oldest ones have nothing left that would outlive a lease.
constexpr std::size_t kMostCondemned = 4;

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
  look(now);
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
          .after_silence = owing_};
}

std::unique_ptr<Connection> Link::attempt(TimePoint now) {
  return std::make_unique<Connection>(loop_, address_, tls_, greeting(), later(now, timeouts_.connect));
}

/// Certificates are renewed while locks are held. What cannot be used just now is being replaced: then those from before serve.
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
  look(now);
}

void Link::failed(Failure why, TimePoint now) {
  contacted_ = contacted();
  if (connection_) owing_ = connection_->owes();
  if (connection_ && connection_->open())
    mention(fmt::format("lost the connection to {}: {}", address_.str(), why.text));
  failure_ = std::move(why);
  connection_.reset();
  second_.reset();
  told_ = nullptr;
  backoff_.ended(now);
}

/// Looks at what became of the connections since the last turn.
void Link::look(TimePoint now) {
  look_at_ear(now);
  look_at_connection(now);
  listen(now);
}

void Link::look_at_connection(TimePoint now) {
  if (!connection_ || !connection_->failure()) return;
  using Resp2 = Connection::Resp2;
  const Resp2 before = resp2_;
  if (before == Resp2::no) resp2_ = connection_->wants_resp2();
  if (before == Resp2::suspected) resp2_ = Resp2::no;  // it was worth a try
  failed(*connection_->failure(), now);
  if (before == Resp2::no && resp2_ != Resp2::no) open(now);
}

void Link::condemn(std::uint64_t connection) {
  if (find(connection) == nullptr) return;
  contacted_ = contacted();
  loop_.leave(*connection_);
  owing_ = connection_->owes();
  connection_->stop_reading();
  if (!connection_->failure()) condemned_.push_back(std::move(connection_));
  if (condemned_.size() > kMostCondemned) condemned_.erase(condemned_.begin());
  failed({Error::unreachable, "no answer in time"}, Clock::now());
}

void Link::farewell(const Call& call) {
  for (auto& connection : condemned_) connection->leave_behind(call);
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
Connection* Link::ear() const { return resp2_ == Connection::Resp2::no ? connection_.get() : second_.get(); }

/// Tells the connection that should listen what to listen to, once.
void Link::listen(TimePoint now) {
  if (watched_.empty() || deaf_ || now < listen_at_ || !connection_) return;
  const bool needs_second = resp2_ != Connection::Resp2::no && !second_ && connection_->open();
  if (needs_second && second_backoff_.due(now)) {
    second_backoff_.began(now);
    try {
      second_ = attempt(now);
    } catch (const Error&) {  // the password file again
      second_backoff_.ended(now);
    }
  }
  if (ear() == nullptr || ear() == told_) return;
  told_ = ear();
  for (const Wish& wish : watched_) told_->subscribe(wish.channel, wish.sharded);
}

void Link::look_at_ear(TimePoint now) {
  if (told_ != nullptr)
    for (const Push& push : told_->take_pushes()) hear(push, now);
  if (second_ && second_->failure()) {
    second_.reset();
    told_ = nullptr;
    second_backoff_.ended(now);
  }
}

/// A sharded subscription that cannot be here: the slot has moved, or the server is older than Redis 7. The plain one beside
/// it goes on, and hears what such a server announces.
bool Link::sent_away(const Push& push) {
  if (!push.sharded || push.kind == Push::Kind::message || push.kind == Push::Kind::subscribed) return false;
  if (push.kind == Push::Kind::refused && is_passing(push.reply)) return false;
  watched_.erase({push.channel, true});
  misplaced_ = misplaced_ || push.kind == Push::Kind::unsubscribed || push.reply.is_error("MOVED");
  return true;
}

void Link::hear(const Push& push, TimePoint now) {
  if (!watched_.contains({push.channel, push.sharded}) || sent_away(push)) return;
  switch (push.kind) {
    case Push::Kind::message:
    case Push::Kind::subscribed: ++news_; return;
    case Push::Kind::unsubscribed: break;
    case Push::Kind::refused:
      if (is_passing(push.reply)) break;
      deaf_ = failure_of(push.reply).text;
      tell(fmt::format("{} does not let us listen, so we ask again and again: {}", address_.str(), *deaf_));
      return;
  }
  told_ = nullptr;
  listen_at_ = later(now, kListenAgain);
}

void Link::watch(const Channel& channel, bool sharded) {
  if (!watched_.insert({channel, sharded}).second) return;
  if (told_ != nullptr) told_->subscribe(channel, sharded);
}

void Link::unwatch(const Channel& channel, bool sharded) {
  if (watched_.erase({channel, sharded}) != 0 && told_ != nullptr) told_->unsubscribe(channel, sharded);
}

// --- the source ----------------------------------------------------------------------------------

TimePoint Link::wake_at() const {
  if (connection_ && connection_->failure()) return TimePoint::min();
  if (second_ && second_->failure()) return TimePoint::min();
  if (told_ != nullptr) return told_->has_pushes() ? TimePoint::min() : kNever;
  if (watched_.empty() || deaf_) return kNever;
  if (!connection_) return backoff_.next();
  if (ear() != nullptr) return listen_at_;
  return connection_->open() ? std::max(listen_at_, second_backoff_.next()) : kNever;
}

void Link::ready(short, TimePoint now) {
  look(now);
  if (!connection_ && !watched_.empty() && backoff_.due(now)) open(now);
}

}  // namespace rlock
