#include "redis/link.h"

#include <algorithm>

#include "base/random.h"

namespace rlock {
namespace {

/// Pauses between attempts to connect: short enough to notice within a second that a server is back, long
/// enough that a crowd of waiters does not keep it down.
constexpr Milliseconds kShortestPause{50};
constexpr Milliseconds kLongestPause{800};

/// Condemned connections that are kept for a farewell. More than a few means that the server has been gone for many attempts;
/// the oldest ones have nothing left that would outlive a lease.
constexpr std::size_t kMostCondemned = 4;

}  // namespace

Link::Link(Loop& loop, const Target& target, Address address, const Timeouts& timeouts)
    : loop_(loop), target_(target), address_(std::move(address)), timeouts_(timeouts) {
  loop_.join(*this);
}

Link::~Link() { loop_.leave(*this); }

Connection* Link::connection() {
  const TimePoint now = Clock::now();
  look(now);
  if (!connection_ && now >= next_attempt_) open(now);
  return connection_.get();
}

Greeting Link::greeting() const {
  return {.user = target_.user, .password = target_.password.read(), .db = target_.db, .resp3 = resp3_};
}

std::unique_ptr<Connection> Link::attempt(TimePoint now) {
  return std::make_unique<Connection>(loop_, address_, target_.tls, greeting(),
                                      later(now, timeouts_.connect));
}

void Link::open(TimePoint now) {
  failure_.reset();
  try {
    connection_ = attempt(now);
  } catch (const Error& error) {  // a password file that is being replaced is no reason to give up a lock
    return failed({error.kind(), error.what()}, now);
  }
  listen();
  look(now);
}

/// Tells the connection that should listen what to listen to, once.
void Link::listen() {
  if (watched_.empty() || deaf_) return;
  Connection* ear = needs_second() ? listener_.get() : connection_.get();
  if (needs_second() && !listener_ && connection_ && connection_->open()) {
    listener_ = attempt(Clock::now());
    ear = listener_.get();
  }
  if (ear == nullptr || ear == listening_) return;
  listening_ = ear;
  for (const auto& [channel, sharded] : watched_) ear->subscribe(channel, sharded);
}

bool Link::needs_second() const { return !resp3_; }

void Link::failed(Failure why, TimePoint now) {
  failure_ = std::move(why);
  connection_.reset();
  listener_.reset();
  listening_ = nullptr;
  next_attempt_ = later(now, pause_ + jitter(pause_ / 2));
  pause_ = std::clamp(pause_ * 2, kShortestPause, kLongestPause);
}

/// Looks at what became of the connections since the last turn.
void Link::look(TimePoint now) {
  if (!connection_) return;
  contacted_ = contacted_ || connection_->spoke();
  if (connection_->open()) pause_ = Milliseconds{0};
  look_at_listener(now);
  if (!connection_->failure()) return listen();
  const bool other_protocol = connection_->wants_resp2();
  resp3_ = other_protocol ? false : resp3_ || !connection_->spoke();
  failed(*connection_->failure(), now);
  if (other_protocol) open(now);
}

void Link::look_at_listener(TimePoint now) {
  Connection* ear = listening_;
  if (ear == nullptr) return;
  for (const Push& push : ear->take_pushes()) {
    if (watched_.contains(push.channel)) ++news_;
  }
  if (ear->refusal()) deaf_ = *ear->refusal();
  if (ear == listener_.get() && ear->failure()) {
    listening_ = nullptr;
    listener_.reset();
    next_attempt_ = std::max(next_attempt_, later(now, kShortestPause));
  }
}

void Link::condemn(std::uint64_t connection) {
  if (!connection_ || connection_->number() != connection) return;
  loop_.leave(*connection_);
  if (connection_->failure() == std::nullopt) condemned_.push_back(std::move(connection_));
  if (condemned_.size() > kMostCondemned) condemned_.erase(condemned_.begin());
  failed({Error::unreachable, "no answer in time"}, Clock::now());
}

void Link::farewell(const Call& call) {
  for (auto& connection : condemned_) connection->send(call);
}

void Link::renew(Failure why) {
  if (!connection_) return;
  connection_->fail(why);
  failed(std::move(why), Clock::now());
}

Connection* Link::find(std::uint64_t connection) {
  return connection_ && connection_->number() == connection ? connection_.get() : nullptr;
}

void Link::watch(const Channel& channel, bool sharded) {
  if (!watched_.emplace(channel, sharded).second) return;
  if (listening_ != nullptr) {
    listening_->subscribe(channel, sharded);
  } else {
    listen();
  }
}

void Link::unwatch(const Channel& channel) {
  const auto found = watched_.find(channel);
  if (found == watched_.end()) return;
  const bool sharded = found->second;
  watched_.erase(found);
  if (listening_ != nullptr) listening_->unsubscribe(channel, sharded);
}

TimePoint Link::wake_at() const {
  const bool heard = listening_ != nullptr &&
                     (listening_->has_pushes() || listening_->failure() || (listening_->refusal() && !deaf_));
  if (heard || (connection_ && connection_->failure())) return TimePoint::min();
  if (!connection_) return watched_.empty() ? kNever : next_attempt_;
  const bool unheard = !watched_.empty() && listening_ == nullptr && !deaf_ && connection_->open();
  return unheard ? next_attempt_ : kNever;
}

void Link::ready(short, TimePoint now) {
  look(now);
  if (!connection_ && !watched_.empty() && now >= next_attempt_) open(now);
}

}  // namespace rlock
