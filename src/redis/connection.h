#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/names.h"
#include "loop/loop.h"
#include "redis/call.h"
#include "redis/dial.h"
#include "redis/failure.h"
#include "redis/handshake.h"
#include "redis/pipeline.h"
#include "redis/server_identity.h"
#include "redis/target.h"
#include "redis/wire.h"

namespace rlock {

/// One socket to one server. It moves bytes: what the greeting says is the Handshake's business, and which
/// reply belongs to which call is the Pipeline's. It opens, carries calls and fails, once; a
/// new attempt is a new Connection (see Link). Knows nothing of topologies.
///
/// Entirely passive: read open(), failure(), answers and pushes after a turn of the loop.
class Connection final : public Source {
 public:
  /// Begins to connect, with TLS if there is a context for it; fails by itself when `open_by` passes first.
  /// REQUIRES: the loop outlives the connection.
  Connection(Loop& loop, const Address& address, std::shared_ptr<const TlsContext> tls, Greeting greeting,
             TimePoint now, TimePoint open_by);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// A number that no other connection of this process has; never 0.
  std::uint64_t number() const noexcept { return number_; }

  bool open() const noexcept { return state_ == State::open; }  ///< greeted: the server has accepted us
  TimePoint opened_at() const noexcept { return opened_at_; }   ///< REQUIRES: open()
  /// At least one well-formed reply came, of the server that was meant.
  bool spoke() const noexcept { return spoke_ && !stranger_; }
  const ServerIdentity& identity() const noexcept { return handshake_.identity(); }
  bool resp3() const noexcept { return handshake_.greeting().resp3; }  ///< pushes come on this connection
  const std::optional<Failure>& failure() const noexcept { return failure_; }

  /// Why it is not open yet, as a reason to give up. REQUIRES: neither open nor failed
  std::string silence() const;

  using Resp2 = Handshake::Resp2;
  Resp2 wants_resp2() const noexcept { return handshake_.wants_resp2(); }

  /// Sends a call and its followers as soon as that is safe: in one write with the greeting where neither
  /// a password nor a database number could be refused, else once the greeting has been answered.
  std::shared_ptr<InFlightCall> send(const Call& call, const Writing& writing);
  std::shared_ptr<InFlightCall> send(const Call& call) { return send(call, {}); }

  /// See Pipeline.
  void leave_behind(const std::vector<Call>& calls);

  /// May the server still carry out a call that was given up before it was answered?
  bool has_unanswered() const;

  /// SUBSCRIBE (or SSUBSCRIBE): confirmed by a push, or refused in its place in the order.
  void subscribe(const Channel& channel, bool sharded);
  void unsubscribe(const Channel& channel, bool sharded);
  [[nodiscard]] std::vector<Push> take_pushes() { return pipeline_.take_pushes(); }
  bool has_pushes() const noexcept { return pipeline_.has_pushes(); }

  /// Gives up on this connection: fails with `why`, closes the socket.
  void fail(Failure why);

  /// Reads nothing any more, and frees what it has read. What it
  /// still carries stays on its way, and leave_behind() works.
  /// REQUIRES: it has left the loop
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
  void flush();
  void receive(TimePoint now);
  void drain_replies(TimePoint now);
  void accept_greeting(Reply reply, TimePoint now);

  Loop& loop_;
  const Address address_;
  const std::shared_ptr<const TlsContext> tls_;
  const TimePoint open_by_;
  const std::uint64_t number_;
  Handshake handshake_;
  Pipeline pipeline_;
  State state_ = State::dialing;
  Dial dial_;
  std::optional<Wire> wire_;
  std::optional<ReplyReader> reader_{std::in_place};  ///< nothing: it is not read any more
  std::optional<Failure> failure_;
  TimePoint opened_at_{};
  bool spoke_ = false;
  bool stranger_ = false;  ///< it is not the kind of server that was meant
};

}  // namespace rlock
