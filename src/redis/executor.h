#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "redis/call.h"
#include "redis/connection.h"
#include "redis/reply.h"
#include "redis/route.h"
#include "redis/target.h"

namespace rlock {

/// What one deployment said to a call: an answer, or why there is none. While neither, it has not answered yet.
struct Vote {
  std::optional<Reply> reply;
  std::optional<Failure> failure;
  std::uint64_t connection = 0;  ///< which one answered (Call::only_on)
  TimePoint asked{};             ///< before the attempt that was answered was written: a lease runs from here

  bool settled() const noexcept { return reply || failure; }
};

/// One vote per deployment, in the order of the targets.
using Votes = std::vector<Vote>;

/// A Call to its Votes within a time, over one Route or a quorum of them. A single server is a quorum of one.
///
/// post() and votes() never pump the loop and may be used by Sources; run() pumps it.
class Executor final : public Source {
 public:
  struct Options {
    Timeouts timeouts;
    bool all = false;    ///< --quorum all
    bool knock = false;  ///< keep trying before the first contact too (a wait was given)
  };
  using Request = std::uint64_t;

  Executor(Loop& loop, const std::vector<Target>& targets, const Options& options);
  Executor(Loop& loop, std::vector<std::unique_ptr<Route>> routes, const Options& options);  ///< for tests
  ~Executor() override;

  Loop& loop() const noexcept { return loop_; }
  std::size_t nodes() const noexcept { return routes_.size(); }
  std::size_t quorum() const noexcept;
  bool contacted() const;                       ///< by any deployment
  bool keeps_trying() const { return options_.knock || contacted(); }  ///< or is a silent server final?
  std::string str(std::size_t node) const;      ///< for messages
  std::string str() const;

  /// Whether asks survive the failure of their connection: `persist` tries again until the deadline (before the first
  /// contact only where Options::knock), `once` makes a failure the vote.
  enum class Insist { persist, once };

  /// Sends to every deployment. Each attempt is cut to Timeouts::command; an attempt that outlives its time condemns its
  /// connection. Unsettled votes become failures at the deadline.
  Request post(const Call& call, TimePoint deadline, Insist insist);

  /// The votes so far. Valid until drop().
  const Votes& votes(Request request) const;
  bool settled(Request request) const;

  /// Nobody looks at it any more. What is on the wire stays there.
  void drop(Request request);

  /// Posts, pumps the loop until every vote is settled, or `enough` says so, or the patience ends; drops.
  Votes run(const Call& call, const Patience& patience, Insist insist = Insist::persist,
            const std::function<bool(const Votes&)>& enough = {});

  /// For a quorum of one or where any answer will do: the first reply that is no error. Throws Error for failures and error replies.
  Reply ask(const Call& call, const Patience& patience);

  /// Writes `call` behind what condemned connections carry (Route::farewell), on every deployment.
  void farewell(const Call& call);

  void watch(const Channel& channel);
  void unwatch(const Channel& channel);
  std::uint64_t news() const;
  std::optional<std::string> deaf() const;  ///< nobody will announce anything, and why

  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  struct Ask;
  struct Pending;
  void progress(TimePoint now);
  void progress(Pending& pending, std::size_t node, TimePoint now);
  void begin(Pending& pending, std::size_t node, TimePoint now);
  void look(Pending& pending, std::size_t node, TimePoint now);
  void accept(Pending& pending, std::size_t node, Connection& connection, Reply reply, TimePoint now);
  void broke(Pending& pending, std::size_t node, Failure why);
  bool may_persist(const Pending& pending, std::size_t node) const;
  Pending& find(Request request);
  const Pending& find(Request request) const;

  Loop& loop_;
  Options options_;
  std::vector<std::unique_ptr<Route>> routes_;
  std::list<Pending> pending_;
  Request next_ = 1;
};

/// What an error reply means to a person and to the exit status: NOAUTH, WRONGPASS, NOPERM and scripts that may not publish are
/// denied; WRONGTYPE is wrong_type; LOADING, READONLY, MISCONF, OOM, ... are unreachable, each named.
Failure failure_of(const Reply& error);

}  // namespace rlock
