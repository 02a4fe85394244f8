// One socket, from connect() to its end. It is dialing (Dial finds an address that accepts us), securing
// (TLS), greeting (Handshake: HELLO, AUTH, SELECT), open, and at last failed; each state is entered at most
// once.
//
// What goes out: callers give calls at any time. The Pipeline holds them back until the greeting allows them
// and decides what is written in which order; encode() makes bytes of that, flush() gives them to the socket.
// What comes in: the Wire reads into the ReplyReader, which hands out whole replies; the Pipeline finds the
// command that each belongs to, and gives the replies to the greeting back to us for the Handshake.
//
// What shaped it: a server that refuses us (too many clients, a wrong password) says so and hangs up. A write
// then fails before its words were read. So a failed write is not yet the failure of the connection: the next
// turn reads first, and reports what the server said.

#include "redis/connection.h"

#include <poll.h>

#include <new>

#include "base/error.h"

namespace rlock {
namespace {

/// Never used twice: a remembered number finds this connection or none (see Executor::advance()).
std::uint64_t next_number() {
  static std::uint64_t last = 0;
  return ++last;
}

}  // namespace

Connection::Connection(Loop& loop, const Address& address, std::shared_ptr<const TlsContext> tls,
                       Greeting greeting, TimePoint now, TimePoint open_by)
    : loop_(loop),
      address_(address),
      tls_(std::move(tls)),
      open_by_(open_by),
      number_(next_number()),
      handshake_(std::move(greeting), address, tls_ != nullptr),
      pipeline_(handshake_.greeting().resp3),
      dial_(address, now, open_by) {
  loop_.join(*this);
  ready(0, now);  // a Unix socket connects at once: no turn of the loop is needed
}

Connection::~Connection() { loop_.leave(*this); }

// --- what is written -----------------------------------------------------------------------------

void Connection::connected() {
  try {
    wire_.emplace(dial_.take(), tls_ ? std::make_unique<TlsSession>(tls_, address_.host) : nullptr);
  } catch (const Error& error) {
    return fail({error.kind(), error.what()});
  }
  state_ = State::securing;
  if (!wire_->secure()) return flush();  // the TLS handshake; receive() goes on when it is done
  const bool at_once = handshake_.comes_alone() || pipeline_.holds_back();
  begin_greeting();
  if (at_once) flush();  // else it leaves with the first call, or when the socket says that it takes it
}

void Connection::begin_greeting() {
  state_ = State::greeting;
  pipeline_.greet(handshake_.begin());
  // Without password and database the greeting cannot be refused in a way that matters to a call: the calls
  // follow it in the same write, which saves a round trip.
  if (!handshake_.comes_alone()) pipeline_.open();
  encode();
}

std::shared_ptr<InFlightCall> Connection::send(const Call& call, const Writing& writing) {
  auto in_flight = pipeline_.send(call, writing);
  flush();
  return in_flight;
}

void Connection::leave_behind(const std::vector<Call>& calls) {
  pipeline_.leave_behind(calls);
  flush();
}

bool Connection::has_unanswered() const {
  // The connection before this one was abandoned. Until this one is greeted, the server may still hang with
  // the call that it got there.
  if (handshake_.greeting().after_silence && !open()) return true;
  return pipeline_.has_unanswered();
}

void Connection::subscribe(const Channel& channel, bool sharded) {
  pipeline_.subscribe(channel, sharded);
  flush();
}

void Connection::unsubscribe(const Channel& channel, bool sharded) {
  pipeline_.unsubscribe(channel, sharded);
  flush();
}

void Connection::encode() {
  for (const CommandWords& words : pipeline_.take_commands()) wire_->say(words);
}

void Connection::flush() {
  if (!wire_) return;
  encode();
  wire_->flush();
  // What the server sent before it hung up may be the reason: the next turn reads that first, see wake_at().
  if (wire_->failure() && !reader_) fail(*wire_->failure());
}

// --- what comes ----------------------------------------------------------------------------------

void Connection::receive(TimePoint now) {
  try {
    wire_->receive(*reader_);
    if (state_ == State::securing && wire_->secure()) begin_greeting();
    drain_replies(now);
  } catch (const Error& error) {  // replies out of shape are a broken connection, not a broken program
    return fail({Error::unreachable, error.what()});
  } catch (const std::bad_alloc&) {
    // Only this server is to blame: the command that is running must not die of it.
    return fail({Error::unreachable, "there is no memory for what the server sends"});
  }
  if (!wire_) return;                     // a reply was a reason to fail
  if (!wire_->failure()) return flush();  // what the replies led to: the next step of the greeting, EVAL
  Failure why = *wire_->failure();
  // Some old servers and proxies hang up when they read HELLO.
  if (state_ == State::greeting && !spoke_) why = handshake_.hung_up(std::move(why));
  fail(std::move(why));
}

void Connection::drain_replies(TimePoint now) {
  while (wire_) {  // fail() takes it away
    auto item = reader_->next(pipeline_.largest_reply());
    if (!item) return;
    spoke_ = true;
    if (auto reply = pipeline_.accept(*std::move(item))) accept_greeting(*std::move(reply), now);
  }
}

void Connection::accept_greeting(Reply reply, TimePoint now) {
  pipeline_.greet(handshake_.accept(std::move(reply)));
  if (handshake_.failure()) return fail(*handshake_.failure());
  if (handshake_.stranger()) {  // a Sentinel, a replica: no call may reach it, but it is asked what it is
    stranger_ = true;
    pipeline_.close();
  }
  if (!handshake_.accepted() || state_ == State::open) return;
  state_ = State::open;
  opened_at_ = now;
  pipeline_.open();
}

// --- the source ----------------------------------------------------------------------------------

void Connection::fail(Failure why) {
  if (state_ == State::failed) return;  // the first reason counts
  state_ = State::failed;
  failure_ = std::move(why);
  pipeline_.close();
  if (handshake_.wants_resp2() != Resp2::no) {
    pipeline_.send_again_elsewhere();
    spoke_ = false;  // who it is, it will tell the next connection
  }
  wire_.reset();
  dial_.take().reset();  // closes a socket that never became a wire
}

void Connection::stop_reading() {
  reader_.reset();  // what it holds may be megabytes
  (void)pipeline_.take_pushes();
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
  if (wire_ && wire_->failure()) return TimePoint::min();  // a write failed: read what was said before
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
  if (state_ == State::dialing) {  // of several addresses it tries one after the other
    dial_.ready(events, now);
    if (dial_.failure()) return fail({Error::unreachable, *dial_.failure()});
    if (dial_.connected()) connected();
    return;
  }
  if (wire_ && (events & POLLOUT) != 0) flush();
  const bool readable = (events & (POLLIN | POLLHUP | POLLERR)) != 0;
  if (wire_ && (readable || wire_->failure())) receive(now);
  const bool opening = state_ == State::securing || state_ == State::greeting;
  // Last: what has come in this turn may have opened it.
  if (opening && now >= open_by_) fail({Error::unreachable, silence()});
}

std::string Connection::silence() const {
  if (state_ == State::dialing) return dial_.silence();
  if (state_ == State::greeting) return "connected, but no answer to the greeting";
  return "connected, but no answer to the TLS handshake: it looks like a plaintext server (redis:// without the second s)";
}

}  // namespace rlock
