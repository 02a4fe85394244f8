#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "cmd/server/session.h"
#include "redis/enough.h"
#include "sync/watch/inspection_steps.h"

namespace rlock {

/// What each server says of one key.
struct Views {
  std::vector<Inspection> seen;
  std::vector<std::string> silent;  ///< the servers that did not answer, and why
};

/// Inspects many keys, several at a time, so that a thousand keys do not take a thousand round trips.
///
/// It is passive: its owner calls advance() after turns of the loop, until over(). Or the owner calls run().
class Inspector {
 public:
  /// The result for one key.
  struct Result {
    Views views;                     ///< incomplete if there is a failure
    std::optional<Failure> failure;  ///< fewer than a quorum of servers answered, or they deny access
  };

  /// `wanted`: see inspect_key().
  Inspector(Session& session, std::vector<LockName> names, std::string wanted = {});
  ~Inspector();
  Inspector(const Inspector&) = delete;
  Inspector& operator=(const Inspector&) = delete;

  /// Reads the answers that have come, and sends the next calls.
  void advance();

  /// When to call advance() even without answers.
  TimePoint wake_at() const noexcept { return wake_at_; }

  /// Starts no further key. Calls that were sent are still awaited.
  void stop() noexcept { next_ = names_.size(); }
  bool over() const noexcept { return tasks_.empty() && next_ == names_.size(); }

  /// In the order of the names. A result is empty if it has not come yet, or the key was not started.
  const std::vector<LockName>& names() const noexcept { return names_; }
  const std::vector<std::optional<Result>>& results() const noexcept { return results_; }

  /// Turns the loop until over(). Throws EndedBySignal if a signal comes. Calls `stops` with each result. If it returns
  /// true, no further key starts.
  void run(const std::function<bool(const Result&)>& stops);

 private:
  struct Task;

  void begin(std::size_t index);
  void begin_more(TimePoint now);
  void post(Task& task, const Call& call);
  bool answered(Task& task, TimePoint now);
  bool advance(Task& task);
  void read_views(Task& task) const;

  Session& session_;
  const std::vector<LockName> names_;
  const std::string wanted_;
  std::vector<std::optional<Result>> results_;
  std::vector<std::size_t> done_;  ///< in the order of completion
  std::list<Task> tasks_;
  std::size_t next_ = 0;
  bool slow_ = false;  ///< a key has failed, or waits for long: the others that do so wait together
  TimePoint wake_at_ = TimePoint::min();
};

/// Inspects a key: the facts of its holders, the key itself, its listeners. A server may refuse to tell the
/// facts and the listeners. Throws Error if fewer than a quorum of servers answer, or if they refuse to tell
/// about the key. `wanted`: the owner of a lock, or the id of a permit, that is found even among very many.
Views inspect_each(Session& session, const LockName& name, const std::optional<Owner>& wanted = std::nullopt);

/// Throws the failure of an inspection.
[[noreturn]] void fail(Session& session, const Failure& failure);

/// Inspects the key on each server and returns agreed() of the answers.
Inspection inspect(Session& session, const LockName& name, const std::optional<Owner>& wanted = std::nullopt);

}  // namespace rlock
