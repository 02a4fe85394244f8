#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "redis/backoff.h"
#include "redis/connection.h"
#include "redis/target.h"

namespace rlock {

/// One server, and a connection to it that is made anew when it fails: with back-off and jitter, with the password as it is
/// then, in RESP2 where the server has never heard of HELLO. Listens again on its channels after each reconnection.
///
/// A RESP2 connection that listens can do nothing else, so such a server gets a second one for that.
class Link final : public Source {
 public:
  /// `tls`: see tls_context(); nothing where Target::tls is off.
  Link(Loop& loop, const Target& target, std::shared_ptr<const TlsContext> tls, Address address,
       const Timeouts& timeouts);
  ~Link() override;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  const Address& address() const noexcept { return address_; }

  /// What may be written to now (it may still be opening: calls wait in it). Nothing while the pause after a failure lasts.
  Connection* connection();

  /// What the server says of itself; empty while there is no connection.
  ServerIdentity identity() const { return connection_ ? connection_->identity() : ServerIdentity{}; }

  /// Why the last attempt failed; nothing while the present one lives.
  const std::optional<Failure>& failure() const noexcept { return failure_; }

  /// When connection() is worth asking again after a failure.
  TimePoint next_attempt() const noexcept { return backoff_.next(); }

  bool contacted() const noexcept { return contacted_ || (connection_ && connection_->spoke()); }

  /// See Route.
  void condemn(std::uint64_t connection);
  void farewell(const Call& call);
  bool has_condemned() const noexcept {
    return !condemned_.empty();
  }  ///< is there anybody to say farewell to?
  Connection* find(std::uint64_t connection);

  /// Waits nobody for an answer here, and has nobody to be told a farewell?
  bool at_rest() const noexcept { return condemned_.empty() && !(connection_ && connection_->owes()); }

  /// Closes this connection, if it still is the one: what it led to is not the server we want.
  void renew(std::uint64_t connection, Failure why);

  /// No connection any more, and none to be made: only farewells are still said.
  void retire();

  /// See Route. `sharded`: by SSUBSCRIBE.
  void watch(const Channel& channel, bool sharded);
  void unwatch(const Channel& channel, bool sharded);
  std::uint64_t news() const noexcept { return news_; }

  /// Was a sharded subscription sent away, because its slot lives elsewhere? It is not tried here again unless it is watched anew.
  bool has_misplaced() const noexcept { return misplaced_; }
  bool take_misplaced() noexcept { return std::exchange(misplaced_, false); }
  const std::optional<std::string>& deaf() const noexcept { return deaf_; }

  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  struct Wish {
    Channel channel;
    bool sharded;
    friend auto operator<=>(const Wish&, const Wish&) = default;
  };

  void open(TimePoint now);
  std::unique_ptr<Connection> attempt(TimePoint now);
  Greeting greeting() const;
  void read_certificates_again();
  void look(TimePoint now);
  void look_at_connection(TimePoint now);
  void look_at_ear(TimePoint now);
  void hear(const Push& push, TimePoint now);
  bool sent_away(const Push& push);
  Connection* ear() const;
  void listen(TimePoint now);
  void failed(Failure why, TimePoint now);

  Loop& loop_;
  const Target target_;
  std::shared_ptr<const TlsContext> tls_;
  const Address address_;
  const Timeouts timeouts_;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<Connection> second_;                  ///< listens, where the first cannot: RESP2
  std::vector<std::unique_ptr<Connection>> condemned_;  ///< open, unread, until somebody says farewell
  Backoff backoff_;
  Backoff second_backoff_;
  std::set<Wish> watched_;
  Connection* told_ = nullptr;  ///< which connection knows what we want to listen to
  TimePoint listen_at_ = TimePoint::min();
  std::optional<Failure> failure_;
  std::optional<std::string> deaf_;
  std::uint64_t news_ = 0;
  bool misplaced_ = false;
  Connection::Resp2 resp2_ = Connection::Resp2::no;
  bool contacted_ = false;
  bool owing_ = false;   ///< the connection before this one may still be carried out: see Connection::owes()
  bool opened_ = false;  ///< before
};

}  // namespace rlock
