// One socket, from connect() to its end. Its states are dialing (Dial finds an address that accepts us),
// securing (TLS), greeting (Handshake: HELLO, AUTH, SELECT), open and failed. It enters each state at most
// once.
//
// Output: callers may send calls at any time. The Pipeline holds the calls back until the greeting allows them, and
// decides the order. encode() turns them into bytes, and flush() writes the bytes to the socket.
// Input: the Wire reads into the ReplyReader, which returns whole replies. The Pipeline finds the command
// that each reply belongs to. The Handshake gets the replies to the greeting.
//
// A server that refuses us (too many clients, protected mode) sends the reason and hangs up. Then a write may fail
// before we read the reason. So after a failed write the next turn reads first, and the connection fails with the
// reason of the server.

#include "redis/connection/connection.h"

#include <poll.h>

#include <new>

#include "base/error.h"

namespace rlock {
namespace {

ConnectionNumber next_number() {
  static std::uint64_t last = 0;
  return ConnectionNumber{++last};
}

}  // namespace

Connection::Connection(Loop& loop, Options options, TimePoint now)
    : address_(std::move(options.address)),
      tls_(std::move(options.tls)),
      open_by_(plus(now, options.open_within)),
      number_(next_number()),
      handshake_(std::move(options.greeting), address_, tls_ != nullptr),
      pipeline_(handshake_.greeting().resp3),
      dial_(address_, now, open_by_),
      membership_(std::in_place, loop, *this) {
  ready(0, now);  // a Unix socket connects at once, without a turn of the loop
}

// --- what is written -----------------------------------------------------------------------------

void Connection::connected() {
  try {
    wire_.emplace(dial_.take(), tls_ ? std::make_unique<TlsSession>(tls_, address_.host) : nullptr);
  } catch (const Error& error) {  // a connection that fails is opened again, which is no reason to end rlock
    return fail({error.kind(), error.what()});
  }
  state_ = State::securing;
  if (!wire_->secure()) return flush();  // the TLS handshake begins; receive() continues when it is done
  const bool at_once = handshake_.comes_alone() || pipeline_.holds_back();
  begin_greeting();
  if (at_once) flush();  // otherwise it is written with the first call, or when the socket is writable
}

void Connection::begin_greeting() {
  state_ = State::greeting;
  pipeline_.greet(handshake_.begin());
  // If the greeting names no user, password or database, the server cannot refuse it in a way that matters to a call.
  // So calls follow the greeting in the same write, which saves a round trip.
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
  // A call on the previous connection was given up. Until the server answers the greeting of this one, it may still
  // hang in that call.
  if (handshake_.greeting().after_silence && !open()) return true;
  return pipeline_.has_unanswered();
}

void Connection::subscribe(const Subscription& to) {
  pipeline_.subscribe(to);
  flush();
}

void Connection::unsubscribe(const Subscription& from) { pipeline_.unsubscribe(from); }

void Connection::encode() {
  for (const CommandWords& words : pipeline_.take_commands()) wire_->append(words);
}

void Connection::flush() {
  if (!wire_) return;
  encode();
  wire_->flush();
  // The server may have sent the reason before it hung up. The next turn reads that first: see wake_at().
  if (wire_->failure() && !reader_) fail(*wire_->failure());
}

// --- what comes ----------------------------------------------------------------------------------

void Connection::receive(TimePoint now) {
  try {
    wire_->receive(*reader_);
    if (state_ == State::securing && wire_->secure()) begin_greeting();
    drain_replies(now);
  } catch (const Error& error) {  // replies of another shape mean a broken connection, not a broken program
    return fail({.text = error.what(), .lasts = true});
  } catch (const std::bad_alloc&) {  // see no_memory()
    return fail(no_memory());
  }
  if (!wire_) return;  // a reply was a reason to fail
  // Replies may need an answer: the next step of the greeting, or EVAL.
  if (!wire_->failure()) return flush();
  Failure why = *wire_->failure();
  // Some old servers and proxies hang up when they get HELLO.
  if (state_ == State::greeting && !spoke_) why = handshake_.hung_up(std::move(why));
  fail(std::move(why));
}

void Connection::drain_replies(TimePoint now) {
  while (wire_) {  // fail() resets it
    auto item = reader_->next(pipeline_.largest_reply());
    if (!item) return;
    spoke_ = true;
    if (auto reply = pipeline_.accept(*std::move(item))) accept_greeting(*std::move(reply), now);
  }
}

void Connection::accept_greeting(Reply reply, TimePoint now) {
  pipeline_.greet(handshake_.accept(std::move(reply)));
  if (handshake_.failure()) return fail(*handshake_.failure());
  // A server of another kind gets no call, only a question whose answer helps to name the right URL.
  if (handshake_.unexpected()) {
    unexpected_ = true;
    pipeline_.close();
  }
  if (!handshake_.accepted() || state_ == State::open) return;
  state_ = State::open;
  opened_at_ = now;
  pipeline_.open();
}

// --- the end, and the connection as a source of the loop --------------------------------------------

void Connection::fail(Failure why) {
  if (state_ == State::failed) return;  // the first reason counts
  state_ = State::failed;
  failure_ = std::move(why);
  pipeline_.close();
  if (handshake_.wants_resp2() != Resp2::no) {
    pipeline_.send_again_elsewhere();
    spoke_ = false;  // the next connection will find out which server it is
  }
  wire_.reset();
  dial_.take().reset();  // closes a socket that never became a wire
}

void Connection::stop_reading() {
  membership_.reset();
  reader_.reset();  // the reader may hold megabytes
  (void)pipeline_.take_pushes();
}

int Connection::fd() const {
  if (wire_) return wire_->fd();
  return state_ == State::dialing ? dial_.fd() : -1;
}

short Connection::interest() const {
  if (wire_) return static_cast<short>(wire_->interest() | (pipeline_.has_commands() ? POLLOUT : 0));
  return state_ == State::dialing ? dial_.interest() : short{0};
}

TimePoint Connection::wake_at() const {
  if (wire_ && wire_->failure()) return TimePoint::min();  // a write failed: read what the server sent before
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
  if (state_ == State::dialing) {  // it tries the addresses one after the other
    dial_.ready(events, now);
    if (dial_.failure()) return fail({Error::unreachable, *dial_.failure()});
    if (dial_.connected()) connected();
    return;
  }
  if (wire_ && (events & POLLOUT) != 0) flush();
  const bool readable = (events & (POLLIN | POLLHUP | POLLERR)) != 0;
  if (wire_ && (readable || wire_->failure())) receive(now);
  const bool opening = state_ == State::securing || state_ == State::greeting;
  // Last, because replies of this turn may have opened it.
  if (opening && now >= open_by_) fail({Error::unreachable, silence()});
}

std::string Connection::silence() const {
  if (state_ == State::dialing) return dial_.silence();
  if (state_ == State::greeting) return "connected, but no answer to the greeting";
  return "connected, but no answer to the TLS handshake: it hangs, or is a plaintext server (redis:// without the second s)";
}

}  // namespace rlock
