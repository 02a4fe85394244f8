#pragma once

#include <list>
#include <optional>
#include <string>
#include <vector>

#include "cmd/server/session.h"
#include "redis/enough.h"
#include "sync/watch/inspection_steps.h"

namespace rlock {

/// What each of the servers sees under a key.
struct Views {
  std::vector<Inspection> seen;
  std::vector<std::string> silent;  ///< which of several servers have not answered, and why
};

/// The inspections of many keys, some of them on their way at a time, so that a thousand keys do not take a
/// thousand round trips.
///
/// Passive like a Source: its owner calls advance() after turns of the loop, until over(). Or run().
class Survey {
 public:
  /// The result for one key.
  struct Result {
    Views views;                     ///< empty if there is a failure
    std::optional<Failure> failure;  ///< fewer than a quorum of servers answered, or they forbid it
  };

  Survey(Session& session, std::vector<LockName> names);
  ~Survey();
  Survey(const Survey&) = delete;
  Survey& operator=(const Survey&) = delete;

  /// Reads what has come, and sends what comes next.
  void advance();

  /// When to call advance() even if nothing comes.
  TimePoint wake_at() const noexcept { return wake_at_; }

  /// Begins no further key; what has been sent is waited for.
  void stop() noexcept { next_ = names_.size(); }
  bool over() const noexcept { return tasks_.empty() && next_ == names_.size(); }

  /// In the order of the names. A result is empty if it has not come yet, or was never asked for.
  const std::vector<LockName>& names() const noexcept { return names_; }
  const std::vector<std::optional<Result>>& results() const noexcept { return results_; }

  /// Turns the loop until it is over. Throws EndedBySignal. `stops`: asked about each result, in
  /// the order in which they come.
  void run(const std::function<bool(const Result&)>& stops);

 private:
  struct Task;

  void begin(std::size_t index);
  void post(Task& task, const Call& call, const Delivery& delivery);
  bool answered(Task& task, TimePoint now);
  bool advance(Task& task);
  void read_views(Task& task) const;

  Session& session_;
  const std::vector<LockName> names_;
  std::vector<std::optional<Result>> results_;
  std::vector<std::size_t> done_;  ///< in the order in which they came
  std::list<Task> tasks_;
  std::size_t next_ = 0;
  TimePoint wake_at_ = TimePoint::min();
};

/// Inspects a key by three calls, the first and the last of which a server may refuse to answer.
/// Throws Error where fewer than a quorum of servers answer, or they forbid the second.
Views inspect_each(Session& session, const LockName& name);

/// Throws what made an inspection fail.
[[noreturn]] void fail(Session& session, const Failure& failure);

/// Inspects the key on each server and returns agreed() of the answers.
Inspection inspect(Session& session, const LockName& name);

}  // namespace rlock
