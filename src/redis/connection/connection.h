#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loop/loop.h"
#include "redis/call.h"
#include "redis/connection/dial.h"
#include "redis/connection/handshake.h"
#include "redis/connection/pipeline.h"
#include "redis/connection/server_identity.h"
#include "redis/connection/target.h"
#include "redis/connection/wire.h"
#include "redis/connection_number.h"
#include "redis/failure.h"

namespace rlock {

/// One socket to one server. It moves bytes: the Handshake makes the greeting, and the Pipeline matches
/// replies with calls. It opens, carries calls and fails, once; a new attempt is a new Connection (see Link).
/// It knows nothing about topologies.
///
/// It is passive: after a turn of the loop, read open(), failure(), answers and pushes.
class Connection final : public Source {
 public:
  struct Options {
    Address address;
    std::shared_ptr<const TlsContext> tls{};  ///< null: without TLS
    Greeting greeting{};
    Milliseconds open_within;  ///< it fails if it is not open by then
  };

  /// Starts to connect. REQUIRES: the loop outlives the connection.
  Connection(Loop& loop, Options options, TimePoint now);

  /// A number that no other connection of this process has; never `none`.
  ConnectionNumber number() const noexcept { return number_; }

  bool open() const noexcept { return state_ == State::open; }  ///< the server has accepted the greeting
  TimePoint opened_at() const noexcept { return opened_at_; }   ///< REQUIRES: open()
  /// True if the server has sent at least one well-formed reply and is of the right kind.
  bool spoke() const noexcept { return spoke_ && !unexpected_; }
  const ServerIdentity& identity() const noexcept { return handshake_.identity(); }
  bool resp3() const noexcept { return handshake_.greeting().resp3; }  ///< calls and pushes share it
  const std::optional<Failure>& failure() const noexcept { return failure_; }

  /// Why it is not open yet, as the text of a failure. REQUIRES: it is neither open nor failed
  std::string silence() const;

  using Resp2 = Handshake::Resp2;
  Resp2 wants_resp2() const noexcept { return handshake_.wants_resp2(); }

  /// Sends a call and its followers as soon as this is safe. If the greeting has a user, a password or a
  /// database, they wait for its reply. Otherwise they follow the greeting in the same write.
  std::shared_ptr<InFlightCall> send(const Call& call, const Writing& writing);
  std::shared_ptr<InFlightCall> send(const Call& call) { return send(call, {}); }

  /// See Pipeline.
  void leave_behind(const std::vector<Call>& calls);

  /// May the server still carry out a script that the caller has given up?
  bool has_unanswered() const;

  /// See Pipeline.
  bool expects_replies() const noexcept { return pipeline_.expects_replies(); }

  /// SUBSCRIBE (or SSUBSCRIBE). The server confirms it by a push, or refuses it by a reply.
  void subscribe(const Subscription& to);
  /// UNSUBSCRIBE leaves with the next call, or else in the next turn.
  void unsubscribe(const Subscription& from);
  /// Writes what has not left yet.
  void flush();
  [[nodiscard]] std::vector<Push> take_pushes() { return pipeline_.take_pushes(); }
  bool has_pushes() const noexcept { return pipeline_.has_pushes(); }

  /// Gives up this connection: it fails with `why`, and its socket is closed.
  void fail(Failure why);

  /// Stops reading, and frees what it has read. Bytes that were written stay on their way, and leave_behind() still
  /// works.
  /// REQUIRES: the connection has left the loop.
  void stop_reading();

  int fd() const override;
  short interest() const override;
  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  enum class State { dialing, securing, greeting, open, failed };

  void connected();
  void begin_greeting();
  void encode();
  void receive(TimePoint now);
  void drain_replies(TimePoint now);
  void accept_greeting(Reply reply, TimePoint now);

  const Address address_;
  const std::shared_ptr<const TlsContext> tls_;
  const TimePoint open_by_;
  const ConnectionNumber number_;
  Handshake handshake_;
  Pipeline pipeline_;
  State state_ = State::dialing;
  Dial dial_;
  std::optional<Wire> wire_;
  std::optional<ReplyReader> reader_{std::in_place};  ///< empty: it is not read any more
  std::optional<Failure> failure_;
  TimePoint opened_at_{};
  bool spoke_ = false;
  bool unexpected_ = false;               ///< the server is of another kind than meant
  std::optional<Membership> membership_;  ///< empty: it is not read any more
};

}  // namespace rlock
