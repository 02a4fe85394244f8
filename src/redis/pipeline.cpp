// Which reply belongs to which command. expected_ is the order in which commands were written: the next reply
// belongs to its first item. unwritten_ are the commands that have their place in that order and wait to be
// taken. held_back_ are calls that wait for the greeting, and have no place yet.
//
// A script goes by its hash. Where the server answers NOSCRIPT the same call is written again, as text, at
// the end of the order; its followers are written again behind it, and the replies to their first copies are
// dropped. A script that goes as text the first time is remembered in taught_: after that the server knows
// its hash.
//
// Messages come between the replies and take no place in the order. In RESP3 they are marked. In RESP2 they
// are arrays like any other: they are told from replies by their first word, on a connection that subscribed.
//
// What shaped it: the memory that a hostile server can make us use, hence largest_reply() and kMostPushes;
// and undos that must arrive behind what they undo, hence write_as_text() does not move a call that was given
// up.

#include "redis/pipeline.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

namespace rlock {
namespace {

/// Pushes that wait to be read. More than a few mean a flood.
constexpr std::size_t kMostPushes = 100;

/// What a message says is kept up to here: ours are shorter.
constexpr std::size_t kLongestMessage = 64;

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
  for (CommandWords& words : commands) {  // not through put(): the greeting is what calls wait for
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
  // A connection that was never greeted carries nothing that would have to be undone.
  if (state_ != State::open) return;
  for (const Call& call : calls) write({.role = Role::nobody, .call = call, .with_source = true});
}

void Pipeline::subscribe(const Channel& channel, bool sharded) {
  has_subscribed_ = true;  // from now on, also if it is refused: an array may be a push
  subscribed_.emplace(channel, sharded);
  put({.role = Role::subscription, .call = command({sharded ? "SSUBSCRIBE" : "SUBSCRIBE", channel.str()})});
}

void Pipeline::unsubscribe(const Channel& channel, bool sharded) {
  put({.role = Role::subscription,
       .call = command({sharded ? "SUNSUBSCRIBE" : "UNSUBSCRIBE", channel.str()})});
}

void Pipeline::put(Expected expected) {
  switch (state_) {
    case State::held: held_back_.push_back(std::move(expected)); return;
    case State::open: write(std::move(expected)); return;
    case State::closed: return;  // never written: InFlightCall::written says so
  }
}

/// Gives a command its place in the order. Not a call that was given up before it was written.
void Pipeline::write(Expected expected) {
  if (expected.in_flight && expected.in_flight->forgotten && !expected.in_flight->written) return;
  if (expected.in_flight) expected.in_flight->written = true;
  if (expected.asking) {
    unwritten_.push_back({"ASKING"});
    expected_.push_back({.role = Role::asking});
  }
  unwritten_.push_back(words_of(expected.call, hash_will_do(expected)));
  expected_.push_back(std::move(expected));
}

/// If no caller can react to NOSCRIPT, the script goes as text, but only once: a server that reads this
/// long after our end reads no more than the first buffers of it.
bool Pipeline::hash_will_do(const Expected& expected) {
  const bool taught = taught_.contains(expected.call.script);
  if (expected.form == Form::by_hash && (taught || !expected.with_source)) return true;
  taught_.insert(expected.call.script);
  return false;
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
  // A server that has no room for us says so before it was asked anything.
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

/// Takes a message, or the beginning or end of a subscription. Returns false if it is a reply to a command.
bool Pipeline::accept_push(const Reply& reply, bool marked) {
  const bool may_be_push = !resp3_ && has_subscribed_ && reply.kind() == Reply::Kind::array;
  if (!marked && !may_be_push) return false;
  const Reply& kind = reply.at(0);
  const bool sharded =
      is_word(kind, "smessage") || is_word(kind, "ssubscribe") || is_word(kind, "sunsubscribe");
  if (is_word(kind, "message") || is_word(kind, "smessage")) {
    keep({Push::Kind::message,
          Channel{reply.at(1).text()},
          sharded,
          {},
          reply.at(2).text().substr(0, kLongestMessage)});
    return true;
  }
  const bool begins = is_word(kind, "subscribe") || is_word(kind, "ssubscribe");
  const bool ends = is_word(kind, "unsubscribe") || is_word(kind, "sunsubscribe");
  if (!begins && !ends) return marked;  // RESP3 may push other things (invalidate): no reply either
  const std::string channel = reply.at(1).text();
  const bool expected = !expected_.empty() && expected_.front().role == Role::subscription &&
                        expected_.front().call.args.at(1) == channel;
  if (expected) expected_.pop_front();  // else the server ends it by itself: its slot has moved
  if (begins && expected) subscribed_.emplace(channel, sharded);  // again, after an earlier one has ended
  keep({begins ? Push::Kind::subscribed : Push::Kind::unsubscribed, Channel{channel}, sharded});
  if (ends) subscribed_.erase({Channel{channel}, sharded});  // after keep(), which drops what is not wanted
  return true;
}

/// Drops a push for a channel that is not subscribed. Of a flood it keeps the first kMostPushes: each
/// message only says that there is a reason to ask again.
void Pipeline::keep(Push push) {
  const bool wanted = subscribed_.contains({push.channel, push.sharded});
  if (wanted && pushes_.size() < kMostPushes) pushes_.push_back(std::move(push));
}

/// A subscription that is accepted is answered by a push: only an error comes as a reply.
void Pipeline::accept_refusal(const Call& subscription, Reply reply) {
  if (!reply.is_error())
    throw Error{Error::internal, "the server answered a subscription with something else"};
  const std::string& verb = subscription.args.front();
  if (!verb.ends_with("UNSUBSCRIBE")) {
    keep({Push::Kind::refused, Channel{subscription.args.back()}, verb.starts_with("SS"), std::move(reply)});
  }
}

void Pipeline::accept_answer(Expected expected, Reply reply) {
  const bool unknown_script =
      expected.form == Form::by_hash && expected.call.script != nullptr && reply.is_error("NOSCRIPT");
  if (unknown_script) return write_as_text(std::move(expected));
  if (expected.role == Role::follower) {  // what it says, nobody reads
    --expected.in_flight->followers_left;
    return;
  }
  expected.in_flight->answer = std::move(reply);
}

/// The server does not know the script. The followers of the call are written again too: their place is
/// behind it. A call that was given up is not written again: it would arrive behind its own undo, and stay.
void Pipeline::write_as_text(Expected expected) {
  if (expected.in_flight->forgotten && !expected.in_flight->answer) return;
  expected.form = Form::as_text;
  const bool asking = expected.asking;
  const bool leads = expected.role == Role::call;
  const std::shared_ptr<InFlightCall> in_flight = expected.in_flight;
  const std::vector<Call> followers = leads ? expected.followers : std::vector<Call>{};
  write(std::move(expected));
  if (!leads) return;
  // Their first copies were carried out without the call, in vain: those replies are ignored.
  for (Expected& coming : expected_) {
    if (coming.role == Role::follower && coming.in_flight == in_flight) coming.role = Role::nobody;
  }
  for (const Call& follower : followers) {
    write({.role = Role::follower,
           .in_flight = in_flight,
           .call = follower,
           .asking = asking,
           .form = Form::as_text});
  }
}

bool Pipeline::has_unanswered() const {
  return std::ranges::any_of(expected_,
                             [](const Expected& e) { return e.in_flight && e.in_flight->forgotten; });
}

}  // namespace rlock
