#include "redis/connection.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <new>

#include "base/error.h"
#include "base/identity.h"
#include "base/text.h"

namespace rlock {
namespace {

/// Announcements that wait to be looked at. A server that is no flood leaves a few.
constexpr std::size_t kMostPushes = 100;

std::uint64_t next_number() {
  static std::uint64_t last = 0;
  return ++last;
}

bool is_word(const Reply& reply, std::string_view word) {
  return (reply.kind() == Reply::Kind::text || reply.kind() == Reply::Kind::status) && reply.text() == word;
}

/// The error by which a server says that it has never heard of HELLO or of RESP3.
bool speaks_only_resp2(const Reply& error) {
  return error.is_error("NOPROTO") || error.text().find("unknown command") != std::string::npos;
}

std::vector<std::string> words_of(const Call& call, bool by_hash) {
  if (call.script == nullptr) return call.args;
  std::vector<std::string> words{by_hash ? "EVALSHA" : "EVAL",
                                 std::string{by_hash ? call.script->sha1 : call.script->source},
                                 std::to_string(call.keys.size())};
  words.insert(words.end(), call.keys.begin(), call.keys.end());
  words.insert(words.end(), call.args.begin(), call.args.end());
  return words;
}

}  // namespace

Connection::Connection(Loop& loop, const Address& address, std::shared_ptr<const TlsContext> tls,
                       Greeting greeting, TimePoint open_by)
    : loop_(loop),
      address_(address),
      tls_(std::move(tls)),
      greeting_(std::move(greeting)),
      open_by_(open_by),
      number_(next_number()),
      dial_(address, open_by) {
  loop_.join(*this);
  ready(0, Clock::now());
}

Connection::~Connection() { loop_.leave(*this); }

// --- what we say ---------------------------------------------------------------------------------

void Connection::connected() {
  try {
    wire_.emplace(dial_.take(), tls_ ? std::make_unique<TlsSession>(tls_, address_.host) : nullptr);
  } catch (const Error& error) {
    return fail({error.kind(), error.what()});
  }
  state_ = State::securing;
  if (!wire_->secure()) return flush();
  const bool alone = greets_alone() || !held_back_.empty();
  begin_greeting();
  if (alone) flush();  // else it leaves with the first call, or when the socket says that it takes it
}

void Connection::begin_greeting() {
  state_ = State::greeting;
  greet();
  if (!greets_alone()) write_held_back();
}

/// Must nothing follow the greeting before it has been answered? Else
/// a lock could be taken as the wrong user or in the wrong database.
bool Connection::greets_alone() const {
  return greeting_.password.has_value() || !greeting_.user.empty() || greeting_.db != 0;
}

bool Connection::may_write() const {
  if (stranger_) return false;
  return state_ == State::open || (state_ == State::greeting && !greets_alone());
}

void Connection::greet() {
  const auto say = [&](Role role, const std::vector<std::string>& words) {
    wire_->say(words);
    expected_.push_back({.role = role});
  };
  // A server that asks for no password takes any from HELLO, and from AUTH with a name. Only AUTH alone is
  // told so: whoever has a password for a server that has none has come to another server than was meant.
  const bool is_default = greeting_.user.empty() || greeting_.user == "default";
  const bool by_password_alone = is_default && greeting_.password.has_value();
  const std::string password = greeting_.password.value_or("");  // an ACL user with `nopass` takes any
  if (by_password_alone) say(Role::auth, {"AUTH", password});
  const bool by_name = !by_password_alone && !greeting_.user.empty();
  if (greeting_.resp3) {
    std::vector<std::string> hello{"HELLO", "3"};
    if (by_name) hello.insert(hello.end(), {"AUTH", greeting_.user, password});
    hello.insert(hello.end(), {"SETNAME", client_name()});
    say(Role::hello, hello);
  } else {
    if (by_name) say(Role::auth, {"AUTH", greeting_.user, password});
    say(Role::name, {"CLIENT", "SETNAME", client_name()});
  }
  if (greeting_.db != 0) say(Role::select, {"SELECT", std::to_string(greeting_.db)});
  if (greeting_.ask_run_id) say(Role::run_id, {"INFO", "server"});
}

std::shared_ptr<Question> Connection::send(const Call& call, bool asking) {
  const auto question = std::make_shared<Question>();
  put({.role = Role::call, .question = question, .call = call, .asking = asking});
  for (Call companion : call.followers) {
    companion.in_full = companion.in_full || call.in_full;
    put({.role = Role::followers, .question = question, .call = std::move(companion), .asking = asking});
  }
  flush();
  return question;
}

void Connection::leave_behind(const Call& call) {
  if (!may_write()) return;
  const auto leave = [&](Call one) {
    one.in_full = true;
    write({.role = Role::nobody, .call = std::move(one)});
  };
  leave(call);
  for (const Call& companion : call.followers) leave(companion);
  flush();
}

bool Connection::has_unanswered() const {
  if (greeting_.after_silence && !open()) return true;
  return std::ranges::any_of(expected_,
                             [](const Expected& e) { return e.question && e.question->forgotten; });
}

void Connection::subscribe(const Channel& channel, bool sharded) {
  listens_ = true;
  subscribed_.emplace(channel, sharded);
  put({.role = Role::subscribe, .call = command({sharded ? "SSUBSCRIBE" : "SUBSCRIBE", channel.str()})});
  flush();
}

void Connection::unsubscribe(const Channel& channel, bool sharded) {
  put({.role = Role::subscribe, .call = command({sharded ? "SUNSUBSCRIBE" : "UNSUBSCRIBE", channel.str()})});
  flush();
}

void Connection::put(Expected expected) {
  if (may_write()) return write(std::move(expected));
  if (state_ != State::failed) held_back_.push_back(std::move(expected));
}

void Connection::write_held_back() {
  for (Expected& held : held_back_) write(std::move(held));
  held_back_.clear();
}

/// What nobody may be there to repeat goes as text, but only once: a server that reads this long after our
/// end reads no more than the first buffers of it.
bool Connection::hash_will_do(const Expected& expected) {
  const bool taught = taught_.contains(expected.call.script);
  if (expected.form == Form::by_hash && (taught || !expected.call.in_full)) return true;
  taught_.insert(expected.call.script);
  return false;
}

/// Gives a question its place in the order.
void Connection::write(Expected expected) {
  if (expected.question && expected.question->forgotten && !expected.question->written) return;
  if (expected.question) expected.question->written = true;
  if (expected.asking) {
    wire_->say({"ASKING"});
    expected_.push_back({.role = Role::asking});
  }
  wire_->say(words_of(expected.call, hash_will_do(expected)));
  expected_.push_back(std::move(expected));
}

void Connection::flush() {
  if (!wire_) return;
  wire_->flush();
  if (!wire_->failure()) return;
  if (reader_) return receive();  // what it said before it hung up may be the reason
  fail(*wire_->failure());
}

// --- what we hear --------------------------------------------------------------------------------

void Connection::receive() {
  try {
    wire_->receive(*reader_);
    if (state_ == State::securing && wire_->secure()) begin_greeting();
    while (wire_) {
      auto item = reader_->next(most_to_read());
      if (!item) break;
      spoke_ = true;
      if (!accept_push(item->reply, item->push)) accept(std::move(item->reply));
    }
  } catch (const Error& error) {  // answers out of shape are a broken connection, not a broken program
    return fail({Error::unreachable, error.what()});
  } catch (const std::bad_alloc&) {
    return fail({Error::unreachable, "there is no memory for what the server sends"});
  }
  if (!wire_) return;
  if (!wire_->failure()) return wire_->flush();  // what the answers led us to say
  const bool hung_up_on_hello = state_ == State::greeting && greeting_.resp3 && !spoke_;
  if (hung_up_on_hello) greet_in_resp2(Resp2::suspected);
  Failure why = *wire_->failure();
  if (state_ == State::greeting && !spoke_ && !tls_) why.text += "; if it speaks TLS: rediss://";
  fail(std::move(why));
}

/// A message, or the beginning or end of a subscription. In RESP2 they look like ordinary arrays.
bool Connection::accept_push(const Reply& reply, bool shaped_as_push) {
  if (!shaped_as_push && (greeting_.resp3 || !listens_ || reply.kind() != Reply::Kind::array)) return false;
  const Reply& kind = reply.at(0);
  const bool sharded =
      is_word(kind, "smessage") || is_word(kind, "ssubscribe") || is_word(kind, "sunsubscribe");
  if (is_word(kind, "message") || is_word(kind, "smessage")) {
    keep({Push::Kind::message, Channel{reply.at(1).text()}, sharded});
    return true;
  }
  const bool begins = is_word(kind, "subscribe") || is_word(kind, "ssubscribe");
  const bool ends = is_word(kind, "unsubscribe") || is_word(kind, "sunsubscribe");
  if (!begins && !ends) return shaped_as_push;
  const std::string channel = reply.at(1).text();
  const bool expected = !expected_.empty() && expected_.front().role == Role::subscribe &&
                        expected_.front().call.args.at(1) == channel;
  if (expected) expected_.pop_front();  // else the server ends it by itself: its slot has moved
  if (begins && expected) subscribed_.emplace(channel, sharded);  // again, behind the end of an earlier one
  keep({begins ? Push::Kind::subscribed : Push::Kind::unsubscribed, Channel{channel}, sharded});
  if (ends) subscribed_.erase({Channel{channel}, sharded});
  return true;
}

/// What nobody listens to is of no use, and of a flood its beginning says all: somebody has a reason to ask.
void Connection::keep(Push push) {
  const bool wanted = subscribed_.contains({push.channel, push.sharded});
  if (wanted && pushes_.size() < kMostPushes) pushes_.push_back(std::move(push));
}

/// What the next reply may take: that of the call whose turn it is. Others are not kept.
std::size_t Connection::most_to_read() const {
  const bool of_call = !expected_.empty() &&
                       (expected_.front().role == Role::call || expected_.front().role == Role::followers);
  return of_call ? expected_.front().call.largest_reply : kLargestReply;
}

void Connection::accept(Reply reply) {
  if (expected_.empty()) {
    return fail({Error::unreachable, reply.is_error() ? sanitized(reply.text())
                                                      : "the server answered a question that nobody asked"});
  }
  Expected expected = std::move(expected_.front());
  expected_.pop_front();
  if (stranger_ && expected.role != Role::stranger) return;  // what it says was meant for another one
  switch (expected.role) {
    case Role::hello:
    case Role::auth:
    case Role::name:
    case Role::select: return accept_greeting(expected.role, reply);
    case Role::run_id: identity_.run_id = read_run_id(reply); return;
    case Role::stranger:
      return fail(describe_stranger(greeting_.meant, identity_, address_, tls_ != nullptr, std::move(reply)));
    case Role::subscribe: return accept_refusal(expected.call, std::move(reply));
    case Role::call:
    case Role::followers: return accept_answer(std::move(expected), std::move(reply));
    case Role::asking:
    case Role::nobody: return;
  }
}

void Connection::accept_greeting(Role role, const Reply& reply) {
  if (reply.is_error() && role != Role::name) return fail(refused(role, reply));
  if (role == Role::hello) identity_ = read_hello(reply);
  if (is_stranger(greeting_.meant, identity_)) return ask_stranger();
  const auto greets = [](const Expected& e) {
    return e.role == Role::hello || e.role == Role::name || e.role == Role::select;
  };
  if (!expected_.empty() && greets(expected_.front())) return;
  state_ = State::open;
  opened_at_ = Clock::now();
  write_held_back();
}

/// The next connection greets so, and whatever waits here goes there at once.
void Connection::greet_in_resp2(Resp2 reason) {
  wants_resp2_ = reason;
  for (auto* waiting : {&expected_, &held_back_})
    for (const Expected& expected : *waiting)
      if (expected.question) expected.question->again = true;
}

/// It is not who was meant: what has been written behind the greeting goes unheard, and the right URL is
/// found out.
void Connection::ask_stranger() {
  stranger_ = true;
  const auto question = question_to_stranger(identity_);
  if (question.empty())
    return fail(describe_stranger(greeting_.meant, identity_, address_, tls_ != nullptr, std::nullopt));
  wire_->say(question);
  expected_.push_back({.role = Role::stranger});
}

Failure Connection::refused(Role role, const Reply& reply) {
  if (role == Role::hello && speaks_only_resp2(reply)) {
    greet_in_resp2(Resp2::told);
    return {Error::unreachable, "the server speaks RESP2 only"};
  }
  Failure why = failure_of(reply);
  if (why.kind == Error::denied) return why;
  if (role == Role::select)
    return {Error::config, fmt::format("it has no database {} ({}); see --db", greeting_.db, why.text)};
  if (reply.text().find("without any password configured") != std::string::npos ||
      reply.text().find("no password is set") != std::string::npos)
    return {
        Error::denied,
        fmt::format(
            "the server asks for no password, so it may not be the one that was meant; if it is, give none ({})",
            why.text)};
  const bool passing =
      reply.is_error("LOADING") || reply.text().find("max number of clients") != std::string::npos;
  return {passing ? Error::unreachable : Error::denied, why.text};
}

void Connection::accept_refusal(const Call& subscription, Reply reply) {
  if (!reply.is_error()) throw Error{Error::internal, "a subscription was answered with something else"};
  const std::string& verb = subscription.args.front();
  if (!verb.ends_with("UNSUBSCRIBE")) {
    keep({Push::Kind::refused, Channel{subscription.args.back()}, verb.starts_with("SS"), std::move(reply)});
  }
}

void Connection::accept_answer(Expected expected, Reply reply) {
  const bool unknown_script =
      expected.form == Form::by_hash && expected.call.script != nullptr && reply.is_error("NOSCRIPT");
  if (unknown_script) return write_as_text(std::move(expected));
  if (expected.role == Role::followers) return;
  expected.question->answer = std::move(reply);
}

/// The server does not know the script. Its followers goes again too: it was to come behind it. Not for a
/// question that has been given up: what undoes it has been written already, and must not be overtaken.
void Connection::write_as_text(Expected expected) {
  if (expected.question->forgotten && !expected.question->answer) return;
  expected.form = Form::as_text;
  const bool asking = expected.asking;
  const bool leads = expected.role == Role::call;
  const std::shared_ptr<Question> question = expected.question;
  const std::vector<Call> followers = leads ? expected.call.followers : std::vector<Call>{};
  write(std::move(expected));
  if (!leads) return;
  for (Expected& coming : expected_) {
    if (coming.role == Role::followers && coming.question == question) coming.role = Role::nobody;
  }
  for (const Call& companion : followers) {
    write({.role = Role::followers,
           .question = question,
           .call = companion,
           .asking = asking,
           .form = Form::as_text});
  }
}

// --- the source ----------------------------------------------------------------------------------

void Connection::fail(Failure why) {
  if (state_ == State::failed) return;
  state_ = State::failed;
  failure_ = std::move(why);
  wire_.reset();
  dial_.take().reset();
}

void Connection::stop_reading() {
  reader_.reset();
  pushes_ = {};
}

int Connection::fd() const {
  if (wire_) return wire_->fd();
  return state_ == State::dialing ? dial_.fd() : -1;
}

short Connection::interest() const {
  if (wire_) return wire_->interest();
  return state_ == State::dialing ? dial_.interest() : short{0};
}

TimePoint Connection::wake_at() const {
  switch (state_) {
    case State::dialing: return dial_.wake_at();
    case State::securing:
    case State::greeting: return open_by_;
    case State::open:
    case State::failed: return kNever;
  }
  return kNever;
}

void Connection::ready(short events, TimePoint now) {
  if (state_ == State::dialing) {
    dial_.ready(events, now);
    if (dial_.failure()) return fail({Error::unreachable, *dial_.failure()});
    if (dial_.connected()) connected();
    return;
  }
  if (wire_ && (events & POLLOUT) != 0) flush();
  if (wire_ && (events & (POLLIN | POLLHUP | POLLERR)) != 0) receive();
  const bool opening = state_ == State::securing || state_ == State::greeting;
  if (opening && now >= open_by_) fail({Error::unreachable, silence()});
}

std::string Connection::silence() const {
  if (state_ == State::dialing) return dial_.silence();
  if (state_ == State::greeting) return "connected, but no answer to the greeting";
  return "connected, but no answer to the TLS handshake: it looks like a plaintext server (redis:// without the second s)";
}

}  // namespace rlock
