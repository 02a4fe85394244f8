// Matches replies with commands. expected_ has the commands that wait for a reply, in order: the next reply belongs
// to the first of them. unwritten_ has the words of those that are not yet written. held_back_ has calls that wait
// for the greeting and have no place in the order yet.
//
// A script is sent by its hash, unless its source must come first: see hash_will_do(). If the server answers
// NOSCRIPT, the call is written again with the source, at the end of the order. Its followers are written again
// behind it, and the replies to their first copies are ignored. Scripts whose source was sent are in taught_: the
// server knows their hashes.
//
// Messages come between the replies and have no place in the order. RESP3 marks them. In RESP2 they are
// ordinary arrays: on a connection with subscriptions, their first word tells them from replies.
//
// Two dangers shaped this file. A hostile server could use up our memory: see largest_reply() and
// kMostPushes. An undo must arrive behind its acquire, so write_with_source() does not write a call again
// that was given up.

#include "redis/connection/pipeline.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

namespace rlock {
namespace {

/// At most this many pushes are kept until they are read. More than a few mean a flood.
constexpr std::size_t kMostPushes = 100;

/// A message is cut to this many bytes. The longest that rlock shows is a stop request with its reason
/// (sync/records/holder_messages).
constexpr std::size_t kLongestMessage = 1024;

bool is_word(const Reply& reply, std::string_view word) {
  return (reply.kind() == Reply::Kind::text || reply.kind() == Reply::Kind::status) && reply.text() == word;
}

CommandWords words_of(const Call& call, bool by_hash) {
  if (call.script == nullptr) return call.args;
  CommandWords words{by_hash ? "EVALSHA" : "EVAL",
                     std::string{by_hash ? call.script->sha1 : call.script->source},
                     std::to_string(call.keys.size())};
  words.insert(words.end(), call.keys.begin(), call.keys.end());
  words.insert(words.end(), call.args.begin(), call.args.end());
  return words;
}

}  // namespace

// --- what is written -----------------------------------------------------------------------------

void Pipeline::greet(std::vector<CommandWords> commands) {
  for (CommandWords& words : commands) {  // put() would hold them back, like calls
    unwritten_.push_back(std::move(words));
    expected_.push_back({.role = Role::greeting});
  }
}

void Pipeline::open() {
  state_ = State::open;
  for (Expected& held : std::exchange(held_back_, {})) write(std::move(held));
}

void Pipeline::send_again_elsewhere() {
  for (auto* waiting : {&expected_, &held_back_})
    for (const Expected& expected : *waiting)
      if (expected.in_flight) expected.in_flight->again = true;
}

std::shared_ptr<InFlightCall> Pipeline::send(const Call& call, const Writing& writing) {
  const auto in_flight = std::make_shared<InFlightCall>();
  in_flight->followers_left = writing.followers.size();
  put({.role = Role::call,
       .in_flight = in_flight,
       .call = call,
       .followers = writing.followers,
       .with_source = writing.with_source,
       .asking = writing.asking});
  for (const Call& follower : writing.followers) {
    put({.role = Role::follower,
         .in_flight = in_flight,
         .call = follower,
         .with_source = writing.with_source,
         .asking = writing.asking});
  }
  return in_flight;
}

void Pipeline::leave_behind(const std::vector<Call>& calls) {
  // A connection that is not open carries no call that an undo would have to follow.
  if (state_ != State::open) return;
  for (const Call& call : calls) write({.role = Role::nobody, .call = call, .with_source = true});
}

void Pipeline::subscribe(const Subscription& to) {
  has_subscribed_ = true;  // from now on an array may be a push, even if the server refuses the subscription
  subscribed_.insert(to);
  put({.role = Role::subscription,
       .call = command({to.sharded ? "SSUBSCRIBE" : "SUBSCRIBE", to.channel.str()})});
}

void Pipeline::unsubscribe(const Subscription& from) {
  put({.role = Role::subscription,
       .call = command({from.sharded ? "SUNSUBSCRIBE" : "UNSUBSCRIBE", from.channel.str()})});
}

void Pipeline::put(Expected expected) {
  switch (state_) {
    case State::held: held_back_.push_back(std::move(expected)); return;
    case State::open: write(std::move(expected)); return;
    case State::closed: return;  // never written: InFlightCall::written says so
  }
}

/// Gives a command its place in the order. Drops a call that was given up before it was written.
void Pipeline::write(Expected expected) {
  if (expected.in_flight && expected.in_flight->forgotten && !expected.in_flight->written) return;
  if (expected.in_flight) expected.in_flight->written = true;
  if (expected.asking) {
    unwritten_.push_back({"ASKING"});
    expected_.push_back({.role = Role::asking});
  }
  const bool by_hash = hash_will_do(expected);
  if (!by_hash) taught_.insert(expected.call.script);
  unwritten_.push_back(words_of(expected.call, by_hash));
  expected_.push_back(std::move(expected));
}

/// Is the hash of the script enough? With `with_source`, we may not be able to react to NOSCRIPT. So the first call
/// of a script on this connection carries its source. Later calls carry the hash, to be short. If a stopped server
/// goes on after our process has ended, it reads only the first part of our bytes.
bool Pipeline::hash_will_do(const Expected& expected) const {
  return expected.form == Form::by_hash && (!expected.with_source || taught_.contains(expected.call.script));
}

// --- what comes ----------------------------------------------------------------------------------

std::size_t Pipeline::largest_reply() const {
  if (expected_.empty()) return kLargestReply;  // a push, or the reason why the server hangs up
  const Expected& next = expected_.front();
  const bool is_call = next.role == Role::call || next.role == Role::follower;
  return is_call ? next.call.largest_reply : kLargestReply;
}

std::optional<Reply> Pipeline::accept(ReplyReader::Item item) {
  if (accept_push(item.reply, item.push)) return std::nullopt;
  // A server that has no room for us says so before we ask.
  if (expected_.empty())
    throw Error{Error::unreachable, item.reply.is_error() ? sanitized(item.reply.text())
                                                          : "the server sent a reply without a request"};
  Expected expected = std::move(expected_.front());
  expected_.pop_front();
  if (expected.role == Role::greeting) return std::move(item.reply);
  if (state_ == State::closed) return std::nullopt;
  switch (expected.role) {
    case Role::subscription: accept_refusal(expected.call, std::move(item.reply)); break;
    case Role::call:
    case Role::follower: accept_answer(std::move(expected), std::move(item.reply)); break;
    case Role::greeting:
    case Role::asking:
    case Role::nobody: break;
  }
  return std::nullopt;
}

/// Takes a message, or the start or end of a subscription. Returns false if it is a reply to a command.
bool Pipeline::accept_push(const Reply& reply, bool marked) {
  const bool may_be_push = !resp3_ && has_subscribed_ && reply.kind() == Reply::Kind::array;
  if (!marked && !may_be_push) return false;
  const Reply& kind = reply.at(0);
  const bool sharded =
      is_word(kind, "smessage") || is_word(kind, "ssubscribe") || is_word(kind, "sunsubscribe");
  if (is_word(kind, "message") || is_word(kind, "smessage")) {
    store({Push::Kind::message,
           Channel{reply.at(1).text()},
           sharded,
           {},
           reply.at(2).text().substr(0, kLongestMessage)});
    return true;
  }
  const bool begins = is_word(kind, "subscribe") || is_word(kind, "ssubscribe");
  const bool ends = is_word(kind, "unsubscribe") || is_word(kind, "sunsubscribe");
  if (!begins && !ends) return marked;  // RESP3 has other pushes too (invalidate); they are no replies either
  const Subscription to{.channel = Channel{reply.at(1).text()}, .sharded = sharded};
  const bool expected = !expected_.empty() && expected_.front().role == Role::subscription &&
                        expected_.front().call.args.at(1) == to.channel.str();
  // If it is not expected, the server has ended the subscription itself, because the slot moved.
  if (expected) expected_.pop_front();
  // subscribe() has inserted the channel already, but the end of an earlier subscription may have erased it since.
  if (begins && expected) subscribed_.insert(to);
  store({begins ? Push::Kind::subscribed : Push::Kind::unsubscribed, to.channel, sharded});
  // After store(), which drops pushes for unknown channels.
  if (ends) subscribed_.erase(to);
  return true;
}

/// Drops a push for a channel without a subscription. In a flood it keeps the first kMostPushes, because a message is
/// mostly just a reason to ask again.
void Pipeline::store(Push push) {
  const bool wanted = subscribed_.contains({push.channel, push.sharded});
  if (wanted && pushes_.size() < kMostPushes) pushes_.push_back(std::move(push));
}

/// Takes a reply to SUBSCRIBE or UNSUBSCRIBE. It must be an error, because the server answers with a push if it
/// accepts.
void Pipeline::accept_refusal(const Call& subscription, Reply reply) {
  if (!reply.is_error())
    throw Error{Error::internal, "the server answered a subscription with something else"};
  const std::string& verb = subscription.args.front();
  if (!verb.ends_with("UNSUBSCRIBE")) {
    store({Push::Kind::refused, Channel{subscription.args.back()}, verb.starts_with("SS"), std::move(reply)});
  }
}

void Pipeline::accept_answer(Expected expected, Reply reply) {
  const bool unknown_script =
      expected.form == Form::by_hash && expected.call.script != nullptr && reply.is_error("NOSCRIPT");
  if (unknown_script) return write_with_source(std::move(expected));
  if (expected.role == Role::follower) {  // its reply is ignored
    --expected.in_flight->followers_left;
    return;
  }
  expected.in_flight->reply = std::move(reply);
}

/// The server does not know the script. The call's followers are written again too, because their place is behind it.
/// A call that was given up is not written again, because it would arrive behind its own undo, and its hold would
/// stay.
void Pipeline::write_with_source(Expected expected) {
  if (expected.in_flight->forgotten && !expected.in_flight->reply) return;
  expected.form = Form::by_source;
  const bool asking = expected.asking;
  const bool leads = expected.role == Role::call;
  const std::shared_ptr<InFlightCall> in_flight = expected.in_flight;
  const std::vector<Call> followers = leads ? expected.followers : std::vector<Call>{};
  write(std::move(expected));
  if (!leads) return;
  // The first copies of the followers were carried out without the call. Their replies are ignored.
  for (Expected& coming : expected_) {
    if (coming.role == Role::follower && coming.in_flight == in_flight) coming.role = Role::nobody;
  }
  for (const Call& follower : followers) {
    write({.role = Role::follower,
           .in_flight = in_flight,
           .call = follower,
           .asking = asking,
           .form = Form::by_source});
  }
}

bool Pipeline::has_unanswered() const {
  return std::ranges::any_of(expected_, [](const Expected& e) {
    return e.in_flight && e.in_flight->forgotten && e.call.script != nullptr;
  });
}

}  // namespace rlock
