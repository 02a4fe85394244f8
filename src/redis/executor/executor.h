#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "redis/call.h"
#include "redis/connection/target.h"
#include "redis/executor/node.h"
#include "redis/quorum.h"
#include "redis/redis.h"

namespace rlock {

/// Turns a Call into its Votes within a time limit, over one Route or a quorum of Routes. A single server is
/// a quorum of one.
class Executor final : public Redis, public Source {
 public:
  struct Options {
    Timeouts timeouts;
    Quorum quorum = Quorum::majority;
    /// A replica is refused; false: a replica is good enough, because the caller only reads.
    bool to_primary = false;
    bool retry_first_contact = false;  ///< retry before the first contact too (--wait was given)
    Interrupted interrupted = [] { return false; };  ///< ends the wait for a private server to start
  };
  Executor(Loop& loop, const std::vector<Target>& targets, const Options& options);
  Executor(Loop& loop, std::vector<std::unique_ptr<Route>> routes, const Options& options);  ///< for tests
  ~Executor() override;

  bool contacted() const;  ///< a quorum of nodes has sent a well-formed reply of any kind

  Loop& loop() const noexcept override { return loop_; }
  std::size_t nodes() const noexcept override { return nodes_.size(); }
  std::size_t quorum() const noexcept override;
  std::string str(std::size_t node) const override;
  bool keeps_trying() const override { return options_.retry_first_contact || contacted(); }
  std::optional<Failure> trouble() const override;
  std::uint64_t losses() const override;
  void give_away() override;
  bool given_away() const noexcept { return given_away_; }
  /// At give_away(), too few nodes for a quorum had answered all calls.
  bool given_away_silent() const noexcept { return given_away_silent_; }

  /// If an attempt takes longer than Timeouts::command, its connection is abandoned.
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
  const Votes& votes(CallNumber request) const override;
  bool settled(CallNumber request) const override;
  void drop(CallNumber request) override;
  void detach(CallNumber request) override;

  struct Pending;
  CallNumber begin_call(const Call& call, const Delivery& delivery, TimePoint deadline);
  Pending& find(CallNumber request);
  const Pending& find(CallNumber request) const;

  Loop& loop_;
  Options options_;
  std::vector<Node> nodes_;
  bool given_away_ = false, given_away_silent_ = false;
  std::map<CallNumber, std::unique_ptr<Pending>> pending_;  ///< in the order of their post()
  CallNumber next_ = 1;
  Membership membership_{loop_, *this};
};

}  // namespace rlock
