#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "cmd/ask/wait_news.h"

namespace rlock {

/// When line `number` (from 0) of a wait is due: 1, 5, 15 and 30 s after it has begun, then every minute.
TimePoint wait_line_at(TimePoint begun, std::size_t number);

/// Hears how a wait goes, also with --quiet.
class WaitObserver {
 public:
  virtual void waiting(const Waiting& seen) = 0;  ///< called before each sleep
  /// Called when a line is due. `why`: why rlock cannot use the server; empty: it can.
  virtual void trouble(std::string_view why) = 0;

 protected:
  ~WaitObserver() = default;
};

/// Prints why rlock waits: at each wait_line_at(), when the holder changes, and for each USR1. With --quiet, only
/// for USR1. If the wait fails, LastWord has the last line.
///
/// It is a Source, so a line comes in time whatever the wait does, even if the server is silent. It asks
/// about the holder only when a line is due, because an older answer may be outdated.
class WaitLines final : public Source {
 public:
  /// REQUIRES: the session outlives it.
  WaitLines(Session& session, WaitSubject subject);

  Session& session() const noexcept { return session_; }
  const WaitOptions& wait() const noexcept { return subject_.wait; }
  std::string since_start() const;

  /// The options for acquire(). With them, acquire() tells this object how the wait goes. REQUIRES: this object
  /// outlives the wait.
  AcquireOptions options();

  /// Takes the state of the wait. If a caller has an AcquireOptions::report of its own, it must call this.
  void note_waiting(const Waiting& waiting);

  /// The lock was acquired: prints no more lines.
  void acquired();

  /// The wait has ended: prints no more lines. Returns what is known, for the last one.
  WaitNews& over();

  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  void want(TimePoint by, TimePoint now);
  std::optional<std::string> report_trouble(TimePoint now);
  void say(TimePoint now);

  Session& session_;
  const WaitSubject subject_;
  TimePoint begun_;  ///< behind the wait for a password: from here on a server is asked
  TimePoint next_at_;
  std::size_t lines_ = 0;
  int questions_ = 0;             ///< number of USR1 that were handled
  TimePoint said_at_{};           ///< when the last line was printed
  TimePoint wanted_by_ = kNever;  ///< a line is due: at this time, or as soon as the inquiry ends
  std::optional<Owner> named_;    ///< the holder in the last line
  WaitNews news_;
  std::optional<Membership> membership_{std::in_place, session_.loop, *this};  ///< empty: the wait is over
};

}  // namespace rlock
