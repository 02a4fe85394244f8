#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redis/connection/backoff.h"
#include "redis/connection/connection.h"
#include "redis/connection/subscriptions.h"
#include "redis/connection/target.h"
#include "redis/connection_number.h"

namespace rlock {

/// One server, and a connection to it. If the connection fails, the next one opens after a back-off with
/// jitter. For each connection the link reads the password again; it uses RESP2 if the server does not know
/// HELLO. After each reconnection it subscribes to its channels again.
///
/// A RESP2 connection with subscriptions cannot carry calls, so a RESP2 server gets a second connection for the
/// subscriptions.
class Link final : public Source {
 public:
  /// `tls`: see tls_context(); null if Target::tls is off.
  Link(Loop& loop, const Target& target, std::shared_ptr<const TlsContext> tls, Address address,
       const Timeouts& timeouts);

  const Address& address() const noexcept { return address_; }

  /// The connection for calls; it may still be opening, and calls wait in it. Null during the pause after a
  /// failure.
  Connection* connection(TimePoint now);

  /// The run id of the server that answered last, also after its connection has broken: a vote of that server still
  /// counts. Empty: none has told it.
  const std::string& run_id() const noexcept {
    return connection_ && !connection_->identity().run_id.empty() ? connection_->identity().run_id : run_id_;
  }

  /// Why the last attempt failed; empty while the current connection lives.
  const std::optional<Failure>& failure() const noexcept { return failure_; }

  /// The last connection failed, and the server has not answered on the next one.
  bool failing() const noexcept { return failed_ && !(connection_ && connection_->spoke()); }

  /// When to call connection() again after a failure.
  TimePoint next_attempt() const noexcept { return backoff_.next(); }

  /// See Route.
  std::uint64_t losses() const noexcept { return losses_; }

  bool contacted() const noexcept { return contacted_ || (connection_ && connection_->spoke()); }

  /// See Route.
  void abandon(ConnectionNumber connection, TimePoint now);
  void send_on_abandoned(const std::vector<Call>& calls);
  bool has_abandoned() const noexcept { return !abandoned_.empty(); }
  Connection* find(ConnectionNumber connection);

  /// No reply is outstanding, no connection is opening (calls may wait in it), and no abandoned one is open.
  bool at_rest() const noexcept {
    return abandoned_.empty() && !(connection_ && (!connection_->open() || connection_->expects_replies()));
  }

  /// Closes this connection, if it is still the current one. Call it if the connection led to the wrong server.
  void renew(ConnectionNumber connection, Failure why, TimePoint now);

  /// Closes the connection, and forgets the subscriptions, so that it opens no other by itself. Call it if only
  /// send_on_abandoned() is still needed.
  void retire(TimePoint now);

  /// See Route.
  void watch(const Subscription& wanted);
  void unwatch(const Subscription& unwanted);
  std::uint64_t wakeups() const noexcept { return subscriptions_.wakeups(); }
  std::vector<Message> take_messages() noexcept { return subscriptions_.take_messages(); }
  const std::optional<std::string>& subscribe_error() const noexcept { return subscriptions_.error(); }

  /// See Subscriptions.
  bool has_misplaced() const noexcept { return subscriptions_.has_misplaced(); }
  [[nodiscard]] bool take_misplaced() noexcept { return subscriptions_.take_misplaced(); }

  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  void open(TimePoint now);
  std::unique_ptr<Connection> new_connection(TimePoint now);
  Greeting greeting() const;
  void read_certificates_again();
  void advance(TimePoint now);
  void check_connection(TimePoint now);
  Connection* pubsub() const;
  Connection* subscriber() const;
  void drain_pushes(TimePoint now);
  void open_second(TimePoint now);
  void subscribe(TimePoint now);
  void outlive_connection();
  void failed(Failure why, TimePoint now);

  Loop& loop_;
  const Target target_;
  std::shared_ptr<const TlsContext> tls_;
  const Address address_;
  const Timeouts timeouts_;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<Connection> second_pubsub_;           ///< if the first one cannot subscribe (RESP2)
  std::vector<std::unique_ptr<Connection>> abandoned_;  ///< open but unread, for send_on_abandoned()
  Backoff backoff_;
  Backoff idle_backoff_;  ///< for connections that no call has used
  Backoff pubsub_backoff_;
  Subscriptions subscriptions_;
  std::optional<Failure> failure_;
  Connection::Resp2 resp2_ = Connection::Resp2::no;
  std::string run_id_;  ///< see run_id()
  bool contacted_ = false;
  std::uint64_t losses_ = 0;
  /// Calls on the previous connection may still be carried out: see Connection::has_unanswered().
  bool had_unanswered_ = false;
  bool opened_ = false;  ///< some connection was opened before
  bool failed_ = false;  ///< some connection has failed
  bool used_ = false;    ///< a call asked for the connection since the last failure
  Membership membership_{loop_, *this};
};

}  // namespace rlock
