#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/server/session.h"
#include "cmd/view/wait_text.h"
#include "sync/wait/acquire_options.h"
#include "sync/watch/inquiry.h"

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

/// The keys that rlock waits for, and since when.
struct WaitSubject {
  TimePoint started;  ///< start of rlock
  const WaitOptions& wait;
  std::vector<LockName> names;
  std::string state{};               ///< why it is busy, if it has no single holder: "it has too few permits"
  bool is_pool = false;              ///< the key is a pool of permits
  WaitObserver* observer = nullptr;  ///< may be null
};

/// Prints why rlock waits: at each wait_line_at(), when the holder changes, and for each USR1. With --quiet, only
/// for USR1.
///
/// It is a Source, so a line comes in time whatever the wait does, even if the server is silent. It asks
/// about the holder only when a line is due, because an older answer may be outdated.
class WaitLines final : public Source {
 public:
  /// REQUIRES: the session outlives it.
  WaitLines(Session& session, WaitSubject subject);

  const Session& session() const noexcept { return session_; }
  const WaitOptions& wait() const noexcept { return subject_.wait; }

  /// The options for acquire(). With them, acquire() tells this object how the wait goes. REQUIRES: this object
  /// outlives the wait.
  AcquireOptions options();

  /// Takes the state of the wait. If a caller has an AcquireOptions::report of its own, it must call this.
  void note_waiting(const Waiting& waiting);

  /// The lock was acquired: prints no more lines.
  void acquired();

  /// Prints why there is no lock, and returns the exit status for it. If it is busy: the holder, and how to remove a
  /// stale lock. `then`: the end of the text about a server that failed, "; ...".
  [[nodiscard]] int report_not_held(const GaveUp& gave_up, std::string_view then = {});

  /// After a signal: prints what rlock waited for.
  void interrupted(int signal, const GaveUp& gave_up);

  /// After a newer waiter has come (--newest): prints who it is.
  void superseded(const Refused& why);

  /// Ends the lines of a wait whose server has failed. Returns why it failed, for people, with the last answer of the
  /// server and its age: "; 8.1s ago 'db' was held by ...". `then`: as in report_not_held().
  std::string describe_failure(const GaveUp& gave_up, std::string_view then);

  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  void over();
  void want(TimePoint by, TimePoint now);
  void advance();
  void begin_inquiry();
  std::optional<std::string> report_trouble(TimePoint now);
  void say(TimePoint now);
  void say_busy(const GaveUp& gave_up);
  void inquire_for_the_last_word(const GaveUp& gave_up);
  std::string since_start() const;
  std::string known_text(TimePoint now) const;
  std::optional<std::string> trouble(TimePoint now) const;
  std::string server_text(std::string_view why, TimePoint now) const;
  WaitView view(TimePoint now) const;

  Session& session_;
  const WaitSubject subject_;
  TimePoint begun_;  ///< behind the wait for a password: from here on a server is asked
  TimePoint next_at_;
  std::size_t lines_ = 0;
  int questions_ = 0;             ///< number of USR1 that were handled
  TimePoint said_at_{};           ///< when the last line was printed
  TimePoint wanted_by_ = kNever;  ///< a line is due: at this time, or as soon as the inquiry ends

  std::optional<Busy> busy_;        ///< the last "busy" answer; empty: there was none
  std::optional<Failure> failure_;  ///< why the server cannot be used now; empty: it can
  bool unconfirmed_ = false;        ///< Waiting::unconfirmed
  std::optional<Channel> channel_;
  Owner asker_;                 ///< our owner; empty: the wait has none
  std::optional<Owner> named_;  ///< the holder in the last line

  Inquiry inquiry_;
  std::optional<Inspection> seen_;
  std::vector<Owner> above_;  ///< the holders in seen_ that are processes above us
  std::int64_t listeners_ = 0;
  bool fresh_ = false;  ///< seen_ was made for this line
  std::optional<Membership> membership_{std::in_place, session_.loop, *this};  ///< empty: the wait is over
};

}  // namespace rlock
