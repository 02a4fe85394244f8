#pragma once

#include <functional>

#include "cmd/cli/wait_options.h"
#include "cmd/server/deployment.h"
#include "loop/loop.h"
#include "loop/signals.h"
#include "redis/executor.h"
#include "sync/wait/acquire_options.h"

namespace rlock {

/// Thrown up to main(), which ends the process by it: a signal has ended what a verb waited for, and nothing is
/// left to undo.
struct EndedBySignal {
  int number;
};

/// A deployment that one verb talks to: its loop, its signals and its connections, with a time limit for a
/// verb that only asks. Nothing is sent before the first call.
class Session {
 public:
  /// For looks alone a replica will do.
  enum class Access { looks, writes };

  /// `wait`: of a verb that waits; without one, a server that does not answer is a failure at once.
  explicit Session(const ServerOptions& server, const WaitOptions* wait = nullptr,
                   Access access = Access::writes);

  /// Of a deployment that has been resolved before. `all`: every node has to grant (--quorum all).
  Session(Deployment resolved, const WaitOptions& wait, bool all);

  const Deployment deployment;
  const bool may_wait;  ///< would --wait help? It is an option of this verb, and was not given
  Loop loop;
  Signals signals;  ///< none of them ends us: a wait that ends gives back first
  Executor redis;

  LockName name(const std::string& key) const { return deployment.name(key); }

  /// Throws EndedBySignal if a signal has come that ends waits.
  void check_signals() const;

  /// The answer of any node. Throws EndedBySignal; and Error, which names the node if it cannot be reached.
  Reply ask(const Call& call, const Delivery& delivery = persistently());

  /// As ask(), for a call that a server may forbid or not understand: an error reply is an answer.
  Reply any_answer(const Call& call);

  /// The answers of all nodes that gave one; at least a majority. Throws Error as ask() does.
  std::vector<Reply> ask_all(const Call& call, const Delivery& delivery = persistently());

  /// What every node says, in their order: at least a majority of answers. Throws Error as ask() does.
  Votes ask_each(const Call& call, const Delivery& delivery = persistently());

  /// As ask_each(), for a call that can be done without: errors and silence are answers too.
  Votes any_answers(const Call& call);

  /// How acquire() is to wait; it tells `tell` what it sees meanwhile.
  AcquireOptions waiting(const WaitOptions& wait, TimePoint started,
                         std::function<void(const Waiting&)> tell) const;

  /// For one call.
  Patience patience() const;

  /// Why the deployment cannot be used, for a person: it names the servers and, where none can be reached, it
  /// says what to do. `known`: what it said before it failed, "; ..."; then its address was right.
  std::string describe(const Failure& failure, std::string_view known = {}) const;

  /// Throws an Error that says so.
  [[noreturn]] void fail(const Failure& failure) const;

 private:
  Milliseconds first_contact() const;
  Session(Deployment resolved, const WaitOptions* wait, const Executor::Options& options);
};

}  // namespace rlock
