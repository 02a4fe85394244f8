#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/cli/wait_options.h"
#include "cmd/server/deployment.h"
#include "loop/loop.h"
#include "loop/signals.h"
#include "redis/executor/executor.h"
#include "sync/wait/acquire_options.h"

namespace rlock {

/// Thrown up to main(), which then ends the process by this signal. The signal has ended a wait. The call that was
/// waited for may still be carried out, so a verb that must not leave that undoes it on the way (`sem drain`).
struct EndedBySignal {
  int number;
};

/// The extra time for other nodes after a quorum has answered. The short one is for less important answers.
constexpr Milliseconds kAnswerGrace{500};
constexpr Milliseconds kShortAnswerGrace{200};

/// The deployment of one verb, with its loop, signals and connections, and a time limit for a verb that only
/// asks. Nothing is sent before the first call.
class Session {
 public:
  /// `looks`: the verb only reads, so a replica is good enough.
  enum class Access { looks, writes };

  explicit Session(const ServerOptions& server, Access access = Access::writes);

  /// For a verb that waits. If its options give a time to wait, the first contact with a server is retried.
  Session(const ServerOptions& server, const WaitOptions& wait);

  /// For a resolved deployment. `quorum`: the nodes that must grant.
  Session(Deployment resolved, const WaitOptions& wait, Quorum quorum);

  /// Over the loop and the answers of a test. REQUIRES: `answers` outlives it.
  Session(Deployment resolved, Redis& answers);

  const Deployment deployment;
  const bool may_wait;  ///< would --wait help? The verb has this option, and neither it nor -n was given

 private:
  std::optional<Loop> own_loop_;

 public:
  Loop& loop;
  Signals signals;  ///< they do not end the process, because a wait that they end must undo its acquire

 private:
  std::optional<Executor> executor_;

 public:
  Redis& redis;

  TimePoint now() const;

  LockName name(const std::string& key) const { return deployment.name(key); }
  /// The full names of these keys in their order, each once.
  std::vector<LockName> names(const std::vector<std::string>& keys) const;

  /// Throws EndedBySignal if a signal that ends waits has arrived.
  void check_signals() const;

  /// The answer of one node, when a quorum has answered. Throws EndedBySignal after a signal. Throws Error, which names
  /// the nodes, if fewer have answered.
  Reply ask(const Call& call, const Delivery& delivery = with_retries());

  /// Like ask(), but one reply is enough, and it may be an error: for a call that a server may forbid or not know. It
  /// waits for all nodes, because only the verbs of latches call it, and these have one server.
  Reply first_reply(const Call& call);

  /// The answers of all nodes that gave one; at least a quorum. Throws Error like ask().
  std::vector<Reply> ask_all(const Call& call, const Delivery& delivery = with_retries());

  /// The votes of all nodes, in their order, with at least a quorum of answers. Throws Error like ask().
  Votes ask_each(const Call& call, const Delivery& delivery = with_retries());

  /// Like ask_each(), for a call that may fail: an error or a missing reply is a result, too. It throws nothing, sends
  /// the call only once, and soon stops to wait for the other nodes.
  Votes try_each(const Call& call);

  /// The options for acquire(). `report` gets the state of the wait.
  AcquireOptions waiting(const WaitOptions& wait, TimePoint started,
                         std::function<void(const Waiting&)> report) const;

  /// The patience for one call.
  Patience patience() const;

  /// Why the deployment cannot be used, for people. The text names the servers and, if no server can be
  /// reached, the remedy. `known`: the last answer before the failure, "; ..."; it shows that the address was
  /// right.
  std::string describe(const Failure& failure, std::string_view known = {}) const;

  /// Throws this failure as an Error.
  [[noreturn]] void fail(const Failure& failure) const;

  /// The names of all nodes, for messages.
  std::string servers() const;

  /// See Executor.
  bool contacted() const { return executor_ && executor_->contacted(); }
  bool given_away() const { return executor_ && executor_->given_away(); }
  bool given_away_silent() const { return executor_ && executor_->given_away_silent(); }

 private:
  Milliseconds first_contact() const;
  /// After a quorum has answered, the other nodes get `grace`.
  Votes run(const Call& call, const Delivery& delivery, Milliseconds grace);
  Session(Deployment resolved, const WaitOptions* wait, const Executor::Options& options);
};

}  // namespace rlock
