#pragma once

#include <signal.h>

#include <optional>

#include "base/time.h"

namespace rlock {

/// The interval between two KILLs. The second one hits processes that were forked in between.
constexpr Milliseconds kKillAgain{100};

/// If the lock is lost or rlock is dead: how long to try to kill processes that KILL does not end, because they wait
/// for a disk or are not ours.
constexpr Milliseconds kLastTries{10000};

/// When the stop signal is due, and when KILL is. Both may move until they are sent.
struct Deadlines {
  TimePoint stop = kNever;
  TimePoint kill = kNever;

  friend bool operator==(const Deadlines&, const Deadlines&) = default;
};

/// The earlier stop and the earlier kill of the two.
inline Deadlines earliest(const Deadlines& a, const Deadlines& b) {
  return {earliest(a.stop, b.stop), earliest(a.kill, b.kill)};
}

/// Decides which signal is due next: the stop signal, then CONT, then KILL until no process is left. Without CONT, a
/// stopped process would not handle the stop signal. It knows no processes.
class Escalation {
 public:
  explicit Escalation(int signal) : signal_(signal) {}

  /// The next signal that is due `now`. Call it until it returns nothing.
  std::optional<int> next(TimePoint now, const Deadlines& deadlines);

  /// When the next signal is due.
  TimePoint wake_at(const Deadlines& deadlines) const;

  /// A signal has been sent. Never becomes false again.
  bool begun() const noexcept { return step_ != Step::calm; }

  /// KILL has been sent.
  bool killing() const noexcept { return step_ == Step::killing; }

  /// hurry() was called, but KILL has not been sent yet.
  bool hurrying() const noexcept { return hurried_ && !killing(); }

  /// Skips the stop signal, because it was sent already. Only KILL is left.
  void skip_stop() noexcept;

  /// Makes KILL due now, whatever the deadlines say.
  void hurry() noexcept { hurried_ = true; }

 private:
  enum class Step { calm, signalled, woken, killing };

  int signal_;
  Step step_ = Step::calm;
  bool hurried_ = false;
  TimePoint killed_ = TimePoint::min();
};

}  // namespace rlock
