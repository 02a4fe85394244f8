#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "redis/call.h"
#include "redis/connection.h"
#include "redis/redis.h"
#include "redis/route.h"
#include "redis/target.h"

namespace rlock {

/// A Call to its Votes within a time, over one Route or a quorum of them. A single server is a quorum of one.
class Executor final : public Redis, public Source {
 public:
  struct Options {
    Timeouts timeouts;
    bool all = false;                  ///< --quorum all
    bool to_primary = false;           ///< a replica is refused; else it will do, for looks alone
    bool retry_first_contact = false;  ///< keep trying before the first contact too (a wait was given)
    Interrupted interrupted = [] { return false; };  ///< ends the start of a private server
  };
  Executor(Loop& loop, const std::vector<Target>& targets, const Options& options);
  Executor(Loop& loop, std::vector<std::unique_ptr<Route>> routes, const Options& options);  ///< for tests
  ~Executor() override;

  bool contacted() const;   ///< a quorum has sent a well-formed reply, of whatever use
  std::string str() const;  ///< all of them, for messages

  Loop& loop() const noexcept override { return loop_; }
  std::size_t nodes() const noexcept override { return routes_.size(); }
  std::size_t quorum() const noexcept override;
  std::string str(std::size_t node) const override;
  bool keeps_trying() const override { return options_.retry_first_contact || contacted(); }
  std::optional<Failure> trouble() const override;
  std::uint64_t losses() const override;
  void give_away() override;
  bool given_away() const noexcept { return given_away_; }

  /// Each attempt is cut to Timeouts::command; a connection on which one took longer is abandoned.
  Request post(const Call& call, const Delivery& delivery, TimePoint deadline) override;
  Votes run(const Call& call, const Delivery& delivery, const Patience& patience,
            const EnoughFrom& enough_from) override;
  bool has_followers_in_flight() const override;
  void send_on_abandoned(const std::vector<Call>& calls) override;

  void watch(const Channel& channel) override;
  void unwatch(const Channel& channel) override;
  std::uint64_t wakeups() const override;
  std::optional<std::string> subscribe_error() const override;
  std::optional<Failure> same_server_twice() const override;

  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  std::vector<Message> take_messages() override;
  const Votes& votes(RequestId request) const override;
  bool settled(RequestId request) const override;
  void drop(RequestId request) override;
  void detach(RequestId request) override;

  struct NodeCall;
  struct Followed;
  struct Pending;
  void progress(TimePoint now);
  void progress(Pending& pending, std::size_t node, TimePoint now);
  bool with_source(const Delivery& delivery) const;
  bool in_flight(const Followed& followed) const;
  bool has_unanswered_call(const Pending& pending, const Connection& connection) const;
  void begin(Pending& pending, std::size_t node, TimePoint now);
  void advance(Pending& pending, std::size_t node, TimePoint now);
  void accept(Pending& pending, std::size_t node, TimePoint now);
  static void finish_attempt(NodeCall& node_call, Vote& vote);
  void broke(Pending& pending, std::size_t node, Failure why, TimePoint now);
  static Failure with_server(const std::string& server, Failure why);
  TimePoint attempt_ends(const Pending& pending, const NodeCall& node_call,
                         const Connection& connection) const;
  bool may_retry(const Pending& pending, std::size_t node) const;
  RequestId begin_call(const Call& call, const Delivery& delivery, TimePoint deadline);
  Pending& find(RequestId request);
  const Pending& find(RequestId request) const;

  Loop& loop_;
  Options options_;
  std::vector<std::unique_ptr<Route>> routes_;
  std::vector<std::optional<Failure>> trouble_ = std::vector<std::optional<Failure>>(routes_.size());
  bool given_away_ = false;
  std::map<RequestId, Pending> pending_;  ///< in the order of their post()
  std::vector<Followed> followed_;        ///< answered; their followers may not be
  RequestId next_ = 1;
};

}  // namespace rlock
