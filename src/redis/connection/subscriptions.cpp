// wanted_ has the wanted subscriptions. connection_ is the number of the pub/sub connection, or
// ConnectionNumber::none. begin() subscribes a new connection to all of wanted_ at once. add() and remove() send later
// changes one by one. The server's answers mean:
//
//   message, confirmation     a reason to ask again (wakeups_)
//   refused for now, ended    all of wanted_ is subscribed to again, after a pause
//   refused for good          error_ is set: callers poll, and the server is not asked again
//
// If a sharded subscription is ended or refused for good, it is only dropped here. The Cluster finds the right node.
//
// A confirmation counts like a message. A client that was told "busy" and then subscribed may have missed the
// release in between.

#include "redis/connection/subscriptions.h"

#include "redis/failure.h"

namespace rlock {
namespace {

/// The pause before we subscribe again if the server ended the subscription, or could not accept it yet (LOADING).
constexpr Milliseconds kRetryPause{200};

}  // namespace

bool Subscriptions::add(const Subscription& subscription) {
  return wanted_.insert(subscription).second && connection_ != ConnectionNumber::none;
}

bool Subscriptions::remove(const Subscription& subscription) {
  return wanted_.erase(subscription) != 0 && connection_ != ConnectionNumber::none;
}

TimePoint Subscriptions::begin_at() const noexcept {
  return wanted_.empty() || error_ || connection_ != ConnectionNumber::none ? kNever : retry_at_;
}

std::vector<Subscription> Subscriptions::begin(ConnectionNumber connection) {
  connection_ = connection;
  return {wanted_.begin(), wanted_.end()};
}

/// Drops a sharded subscription that the server has ended or refused: the slot has moved, or the server is older than
/// Redis 7. Returns whether it did. The plain subscription to the same channel stays, and gets the messages of an old
/// server.
bool Subscriptions::drop_if_sent_away(const Push& push) {
  if (!push.sharded || push.kind == Push::Kind::message || push.kind == Push::Kind::subscribed) return false;
  if (push.kind == Push::Kind::refused && is_passing(push.reply)) return false;
  wanted_.erase({.channel = push.channel, .sharded = true});
  misplaced_ = misplaced_ || push.kind == Push::Kind::unsubscribed || push.reply.is_error("MOVED");
  return true;
}

void Subscriptions::note(const Push& push) {
  ++wakeups_;
  if (messages_.size() == kMessagesKept) messages_.erase(messages_.begin());
  const bool is_message = push.kind == Push::Kind::message;
  messages_.push_back({push.channel, is_message ? std::optional{push.text} : std::nullopt});
}

bool Subscriptions::accept(const Push& push, TimePoint now) {
  if (!wanted_.contains({push.channel, push.sharded}) || drop_if_sent_away(push)) return false;
  switch (push.kind) {
    case Push::Kind::message:
    case Push::Kind::subscribed: note(push); return false;
    case Push::Kind::unsubscribed: break;
    case Push::Kind::refused:
      if (is_passing(push.reply)) break;
      return !std::exchange(error_, failure_of(push.reply).text);
  }
  // The server ended the subscription, or cannot accept it now. All channels are subscribed to again, on this
  // connection if it still lives.
  connection_ = ConnectionNumber::none;
  retry_at_ = plus(now, kRetryPause);
  return false;
}

}  // namespace rlock
