#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redis/connection.h"
#include "redis/target.h"

namespace rlock {

/// One server, and a connection to it that is made anew when it fails: with back-off and jitter, by a new name look-up, in RESP2
/// where the server has never heard of HELLO. Listens again on its channels after each reconnection.
///
/// A RESP2 connection that listens can do nothing else, so such a server gets a second one for that.
class Link final : public Source {
 public:
  Link(Loop& loop, const Target& target, Address address, const Timeouts& timeouts);
  ~Link() override;

  const Address& address() const noexcept { return address_; }

  /// What may be written to now (it may still be opening: calls wait in it). Nothing while the pause after a failure lasts.
  Connection* connection();

  /// Why the last attempt failed; nothing while the present one lives.
  const std::optional<Failure>& failure() const noexcept { return failure_; }

  bool contacted() const noexcept { return contacted_; }

  /// See Route.
  void condemn(std::uint64_t connection);
  void farewell(const Call& call);
  Connection* find(std::uint64_t connection);

  /// Closes the connection: what it led to is not the server we want. The next one is made without a pause.
  void renew(Failure why);

  void watch(const Channel& channel, bool sharded);
  void unwatch(const Channel& channel);
  std::uint64_t news() const noexcept { return news_; }
  const std::optional<std::string>& deaf() const noexcept { return deaf_; }

  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  void open(TimePoint now);
  void listen();
  void look(TimePoint now);
  void look_at_listener(TimePoint now);
  Greeting greeting() const;
  bool needs_second() const;
  std::unique_ptr<Connection> attempt(TimePoint now);
  void failed(Failure why, TimePoint now);

  Loop& loop_;
  const Target target_;
  const Address address_;
  const Timeouts timeouts_;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<Connection> listener_;                ///< the second one, for RESP2
  std::vector<std::unique_ptr<Connection>> condemned_;  ///< open, unread, until somebody says farewell
  std::map<Channel, bool> watched_;                     ///< channel -> sharded
  Connection* listening_ = nullptr;                     ///< which connection has been told of watched_
  std::optional<Failure> failure_;
  std::optional<std::string> deaf_;
  TimePoint next_attempt_ = TimePoint::min();
  Milliseconds pause_{0};
  std::uint64_t news_ = 0;
  bool resp3_ = true;
  bool contacted_ = false;
};

}  // namespace rlock
