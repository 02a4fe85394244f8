#include "redis/connection.h"

#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/identity.h"
#include "base/text.h"

namespace rlock {
namespace {

/// More than any answer we ask for. A server that sends more is no server of ours.
constexpr long long kMostElements = 100'000;
constexpr std::size_t kMostBytes = 16U << 20;

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

}  // namespace

void Connection::Close::operator()(redisContext* context) const { redisFree(context); }

Connection::Connection(Loop& loop, const Address& address, const Tls& tls, Greeting greeting,
                       TimePoint open_by)
    : loop_(loop),
      address_(address),
      tls_(tls),
      greeting_(std::move(greeting)),
      open_by_(open_by),
      number_(next_number()) {
  loop_.join(*this);
  connect();
}

Connection::~Connection() { loop_.leave(*this); }

void Connection::connect() {
  redisOptions options{};
  options.options = REDIS_OPT_NONBLOCK | REDIS_OPT_NO_PUSH_AUTOFREE;
  if (address_.is_unix()) {
    REDIS_OPTIONS_SET_UNIX(&options, address_.path.c_str());
  } else {
    REDIS_OPTIONS_SET_TCP(&options, address_.host.c_str(), address_.port);
  }
  context_.reset(redisConnectWithOptions(&options));
  if (!context_) throw Error{Error::system, "out of memory"};
  if (context_->err != 0) {
    const int why = errno;
    const std::string text = context_->err == REDIS_ERR_IO ? std::strerror(why) : context_->errstr;
    return fail({Error::unreachable, sanitized(text)});
  }
  context_->reader->maxelements = kMostElements;
  if (address_.is_unix()) connected();  // such a connect() has succeeded or failed by now
}

void Connection::connected() {
  if (!address_.is_unix()) {
    const int on = 1;
    ::setsockopt(context_->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(context_->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  }
  state_ = State::greeting;
  greet();
  if (!greets_alone()) {
    for (const auto& held : held_back_) write(held, "EVALSHA");
    held_back_.clear();
  }
  flush();
}

bool Connection::greets_alone() const {
  return greeting_.password.has_value() || !greeting_.user.empty() || greeting_.db != 0;
}

void Connection::greet() {
  const std::string user = greeting_.user.empty() ? "default" : greeting_.user;
  if (greeting_.resp3) {
    std::vector<std::string> hello{"HELLO", "3"};
    if (greeting_.password) hello.insert(hello.end(), {"AUTH", user, *greeting_.password});
    hello.insert(hello.end(), {"SETNAME", client_name()});
    write(hello);
    expected_.push_back({.role = Role::hello, .ticket = 0, .call = {}, .asking = false});
  } else {
    if (greeting_.password) {
      std::vector<std::string> auth{"AUTH"};
      if (!greeting_.user.empty()) auth.push_back(user);
      auth.push_back(*greeting_.password);
      write(auth);
      expected_.push_back({.role = Role::auth, .ticket = 0, .call = {}, .asking = false});
    }
    write({"CLIENT", "SETNAME", client_name()});
    expected_.push_back({.role = Role::name, .ticket = 0, .call = {}, .asking = false});
  }
  if (greeting_.db != 0) {
    write({"SELECT", std::to_string(greeting_.db)});
    expected_.push_back({.role = Role::select, .ticket = 0, .call = {}, .asking = false});
  }
}

void Connection::greeted() {
  state_ = State::open;
  for (const auto& held : held_back_) write(held, "EVALSHA");
  held_back_.clear();
}

Connection::Ticket Connection::send(const Call& call, bool asking) {
  const Ticket ticket = next_ticket_++;
  answers_[ticket] = std::nullopt;
  const bool may_write = state_ == State::open || (state_ == State::greeting && !greets_alone());
  const auto put = [&](Expected expected) {
    if (may_write) {
      write(std::move(expected), "EVALSHA");
    } else {
      held_back_.push_back(std::move(expected));
    }
  };
  put({.role = Role::call, .ticket = ticket, .call = call, .asking = asking});
  for (const Call& companion : call.escort)
    put({.role = Role::escort, .ticket = 0, .call = companion, .asking = asking});
  if (may_write) flush();
  return ticket;
}

std::optional<Reply> Connection::take(Ticket ticket) {
  const auto found = answers_.find(ticket);
  if (found == answers_.end() || !found->second) return std::nullopt;
  std::optional<Reply> reply = std::move(found->second);
  answers_.erase(found);
  return reply;
}

bool Connection::answered(Ticket ticket) const {
  const auto found = answers_.find(ticket);
  return found != answers_.end() && found->second.has_value();
}

void Connection::forget(Ticket ticket) { answers_.erase(ticket); }

void Connection::subscribe(const Channel& channel, bool sharded) {
  listens_ = true;
  Expected expected{.role = Role::subscribe, .ticket = 0, .call = {}, .asking = false};
  expected.call = command({sharded ? "SSUBSCRIBE" : "SUBSCRIBE", channel.str()});
  if (state_ != State::open) return held_back_.push_back(std::move(expected));
  write(std::move(expected), "");
  flush();
}

void Connection::unsubscribe(const Channel& channel, bool sharded) {
  if (state_ != State::open) return;
  Expected expected{.role = Role::subscribe, .ticket = 0, .call = {}, .asking = false};
  expected.call = command({sharded ? "SUNSUBSCRIBE" : "UNSUBSCRIBE", channel.str()});
  write(std::move(expected), "");
  flush();
}

std::vector<Push> Connection::take_pushes() { return std::exchange(pushes_, {}); }

void Connection::fail(Failure why) {
  if (state_ == State::failed) return;
  state_ = State::failed;
  failure_ = std::move(why);
  context_.reset();
}

int Connection::fd() const { return context_ ? static_cast<int>(context_->fd) : -1; }

short Connection::interest() const {
  if (!context_) return 0;
  if (state_ == State::connecting) return POLLOUT;
  const bool unsent = context_->obuf != nullptr && sdslen(context_->obuf) > 0;
  return static_cast<short>(unsent ? POLLIN | POLLOUT : POLLIN);
}

TimePoint Connection::wake_at() const {
  return state_ == State::open || state_ == State::failed ? kNever : open_by_;
}

void Connection::ready(short events, TimePoint now) {
  if (state_ == State::failed) return;
  if (state_ == State::connecting && events != 0) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(context_->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return fail({Error::unreachable, std::strerror(error)});
    connected();
  } else if (events != 0) {
    if ((events & POLLOUT) != 0) flush();
    if (state_ != State::failed && (events & (POLLIN | POLLHUP | POLLERR)) != 0) receive();
  }
  if (now >= wake_at()) {
    fail({Error::unreachable, state_ == State::connecting ? "no answer to the connection attempt"
                                                          : "connected, but no answer to the greeting"});
  }
}

/// Writes an expected question in its place of the order. `verb`: how to send a script.
void Connection::write(Expected expected, const char* verb) {
  if (!context_) return;
  if (expected.asking) {
    write({"ASKING"});
    expected_.push_back({.role = Role::asking, .ticket = 0, .call = {}, .asking = false});
  }
  const Call& call = expected.call;
  if (call.script == nullptr) {
    write(call.args);
  } else {
    const bool by_hash = std::string_view{verb} == "EVALSHA";
    std::vector<std::string> words{verb, std::string{by_hash ? call.script->sha1 : call.script->source},
                                   std::to_string(call.keys.size())};
    words.insert(words.end(), call.keys.begin(), call.keys.end());
    words.insert(words.end(), call.args.begin(), call.args.end());
    write(words);
  }
  expected_.push_back(std::move(expected));
}

void Connection::write(const std::vector<std::string>& words) {
  std::vector<const char*> starts;
  std::vector<std::size_t> lengths;
  for (const auto& word : words) {
    starts.push_back(word.data());
    lengths.push_back(word.size());
  }
  if (redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), starts.data(), lengths.data()) !=
      REDIS_OK) {
    throw Error{Error::system, "out of memory"};
  }
}

void Connection::flush() {
  if (!context_) return;
  int done = 0;
  if (redisBufferWrite(context_.get(), &done) != REDIS_OK) {
    fail({Error::unreachable, fmt::format("the connection broke ({})", sanitized(context_->errstr))});
  }
}

void Connection::receive() {
  const bool alive = redisBufferRead(context_.get()) == REDIS_OK;
  const std::string broken = alive ? "" : sanitized(context_->errstr);
  while (context_) {
    void* raw = nullptr;
    if (redisReaderGetReply(context_->reader, &raw) != REDIS_OK) {
      return fail(
          {Error::unreachable, fmt::format("what answers there does not speak the Redis protocol ({})",
                                           sanitized(context_->reader->errstr))});
    }
    if (raw == nullptr) break;
    const std::unique_ptr<redisReply, decltype(&freeReplyObject)> owned{static_cast<redisReply*>(raw),
                                                                        &freeReplyObject};
    Reply reply = copy_of(*owned);
    spoke_ = true;
    if (!accept_push(reply, owned->type == REDIS_REPLY_PUSH)) accept(std::move(reply));
  }
  if (!context_) return;
  if (!alive) {
    wants_resp2_ = wants_resp2_ || (state_ == State::greeting && greeting_.resp3 && !spoke_);
    return fail({Error::unreachable,
                 broken == "Server closed the connection" ? "the server closed the connection" : broken});
  }
  if (context_->reader->len > kMostBytes)
    fail({Error::unreachable, "the server sends more than any answer needs"});
  flush();  // what the answers led us to say
}

/// A message or the confirmation of a subscription. In RESP2 they look like ordinary arrays.
bool Connection::accept_push(const Reply& reply, bool shaped_as_push) {
  if (!shaped_as_push && (greeting_.resp3 || !listens_ || reply.kind() != Reply::Kind::array)) return false;
  const Reply& kind = reply.at(0);
  if (is_word(kind, "message") || is_word(kind, "smessage")) {
    pushes_.push_back({Push::Kind::message, Channel{reply.at(1).text()}, reply.at(2).text()});
    return true;
  }
  const bool subscribed = is_word(kind, "subscribe") || is_word(kind, "ssubscribe");
  if (!subscribed && !is_word(kind, "unsubscribe") && !is_word(kind, "sunsubscribe")) return shaped_as_push;
  if (!expected_.empty() && expected_.front().role == Role::subscribe) expected_.pop_front();
  if (subscribed) pushes_.push_back({Push::Kind::subscribed, Channel{reply.at(1).text()}, {}});
  return true;
}

void Connection::accept(Reply reply) {
  if (expected_.empty())
    return fail({Error::unreachable, "the server answered a question that nobody asked"});
  Expected expected = std::move(expected_.front());
  expected_.pop_front();
  switch (expected.role) {
    case Role::hello:
    case Role::auth:
    case Role::name:
    case Role::select: return accept_greeting(expected.role, reply);
    case Role::asking: return;
    case Role::subscribe:
      if (reply.is_error()) refusal_ = sanitized(reply.text());
      return;
    case Role::call:
    case Role::escort: return accept_answer(std::move(expected), std::move(reply));
  }
}

void Connection::accept_greeting(Role role, const Reply& reply) {
  if (reply.is_error() && role != Role::name) {
    const std::string text = sanitized(reply.text());
    if (role == Role::select) {
      return fail({Error::config, fmt::format("database {} was refused: {}", greeting_.db, text)});
    }
    if (role == Role::hello && speaks_only_resp2(reply)) {
      wants_resp2_ = true;
      return fail({Error::unreachable, "the server speaks RESP2 only"});
    }
    if (reply.is_error("LOADING") || reply.text().find("max number of clients") != std::string::npos) {
      return fail({Error::unreachable, text});
    }
    return fail({Error::denied, text});
  }
  const bool more =
      !expected_.empty() && expected_.front().role != Role::call && expected_.front().role != Role::escort;
  if (!more) greeted();
}

void Connection::accept_answer(Expected expected, Reply reply) {
  if (expected.call.script != nullptr && reply.is_error("NOSCRIPT"))
    return write(std::move(expected), "EVAL");
  if (expected.role == Role::escort) return;
  if (const auto found = answers_.find(expected.ticket); found != answers_.end())
    found->second = std::move(reply);
}

}  // namespace rlock
