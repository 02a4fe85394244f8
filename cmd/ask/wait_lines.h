#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cmd/cli/wait_options.h"
#include "cmd/server/deployment.h"
#include "cmd/view/wait_text.h"
#include "loop/signals.h"
#include "redis/executor.h"
#include "sync/wait/acquire.h"
#include "sync/watch/inquiry.h"

namespace rlock {

/// What rlock waits for, and since when.
struct WaitSubject {
  const Deployment& deployment;
  TimePoint started;  ///< of rlock
  const WaitOptions& wait;
  std::vector<LockName> names;
  std::string state{};  ///< why it is busy, if it has no single holder: "it has too few permits"
};

/// Tells a person who waits why: a line after 1, 5, 15 and 30 s, then every minute, when the holder changes,
/// and for each USR1; none with --quiet but for USR1.
///
/// A Source of its own, so that a line comes in time whatever the wait does meanwhile, also when the server
/// is silent. It asks the server about the holder when a line is due, and at no other time: a holder may have
/// ended since the last one.
class WaitLines final : public Source {
 public:
  WaitLines(Executor& redis, const Signals& signals, WaitSubject subject);
  ~WaitLines() override { over(); }

  /// What the waiter sees now.
  void hear(const Waiting& waiting);

  /// For AcquireOptions: hears everything. REQUIRES: we live as long
  std::function<void(const Waiting&)> listener() {
    return [this](const Waiting& waiting) { hear(waiting); };
  }

  /// It has been acquired: no more lines.
  void acquired();

  /// The last word: who has it, and how a stale lock is removed; or, when a signal ended the wait, what it
  /// was about.
  void give_up(const GaveUp& gave_up);

  /// The same if a newer waiter has come (--newest).
  void superseded(const Refused& why);

  /// If the server has failed since: what it said last, and how long ago: "; 8.1s ago 'db' was held by
  /// ...". Empty if it never answered.
  std::string last_known(const GaveUp& gave_up);
  void interrupted(int signal, const GaveUp& gave_up);

  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  void over();
  void want(TimePoint by, TimePoint now);
  void advance();
  void begin_inquiry();
  void say(TimePoint now);
  void inquire_for_the_last_word(const GaveUp& gave_up);
  std::string since_start() const;
  std::string known_text(TimePoint now) const;
  std::optional<std::string> trouble(TimePoint now) const;
  std::string server_text(std::string_view why, TimePoint now) const;
  const LockName& name_of(const Busy& busy, std::size_t part) const;
  WaitView view(TimePoint now) const;

  Executor& redis_;
  const Signals& signals_;
  const WaitSubject subject_;
  TimePoint next_at_;
  std::size_t lines_ = 0;
  int questions_ = 0;             ///< of those that came by USR1, how many we know of
  TimePoint said_at_{};           ///< the last line
  TimePoint wanted_by_ = kNever;  ///< a line is due: then, or as soon as the inquiry is over

  std::optional<Busy> busy_;        ///< what the server said last, when it answered last
  std::optional<Failure> failure_;  ///< it does not answer now, and why
  std::size_t part_ = 0;
  std::optional<Channel> channel_;
  std::optional<Owner> asker_;  ///< who waits: us
  std::optional<Owner> named_;  ///< the holder that the last line has named

  Inquiry inquiry_;
  std::optional<Inspection> seen_;
  std::int64_t listeners_ = 0;
  bool fresh_ = false;  ///< seen_ is of this line
};

}  // namespace rlock
