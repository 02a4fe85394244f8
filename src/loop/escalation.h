#pragma once

#include <signal.h>

#include <optional>

#include "base/time.h"

namespace rlock {

/// Between one KILL and the next: processes that were forked meanwhile have to be killed too.
constexpr Milliseconds kKillAgain{100};

/// When the stop signal is due, and when KILL is. Either may move until it has come.
struct Deadlines {
  TimePoint stop = kNever;
  TimePoint kill = kNever;

  friend bool operator==(const Deadlines&, const Deadlines&) = default;
};

/// The sooner one of each.
inline Deadlines earliest(const Deadlines& a, const Deadlines& b) {
  return {earliest(a.stop, b.stop), earliest(a.kill, b.kill)};
}

/// Which signal is due next: the chosen one, then CONT (a stopped process sees no signal but KILL), then KILL
/// until no process is left. Knows no processes.
class Escalation {
 public:
  explicit Escalation(int signal) : signal_(signal) {}

  /// The next signal that is due `now`; ask until there is none.
  std::optional<int> next(TimePoint now, const Deadlines& deadlines);

  /// When there will be one.
  TimePoint wake_at(const Deadlines& deadlines) const;

  /// Something has been sent. Never becomes false again.
  bool begun() const noexcept { return stage_ != Stage::calm; }

  /// It has come to KILL.
  bool killing() const noexcept { return stage_ == Stage::killing; }

  /// hurry() was called, and KILL has not been sent yet.
  bool hurrying() const noexcept { return hurried_ && !killing(); }

  /// The stop signal was sent already: only KILL is left to us.
  void skip_stop() noexcept;

  /// KILL is due now, whatever the deadlines say.
  void hurry() noexcept { hurried_ = true; }

 private:
  enum class Stage { calm, told, woken, killing };

  int signal_;
  Stage stage_ = Stage::calm;
  bool hurried_ = false;
  TimePoint killed_ = TimePoint::min();
};

}  // namespace rlock
