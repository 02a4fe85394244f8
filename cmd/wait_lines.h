#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/deployment.h"
#include "cmd/wait_options.h"
#include "loop/signals.h"
#include "redis/executor.h"
#include "sync/acquire.h"
#include "sync/metadata.h"

namespace rlock {

/// What somebody waits for, and since when.
struct WaitSubject {
  const Deployment& deployment;
  TimePoint started;  ///< of rlock
  const WaitOptions& wait;
  std::vector<LockName> names;
  std::string state{};  ///< why it cannot be had, of what nobody holds: "it has too few permits"
};

/// Tells whoever waits why: a line after 1, 5, 15 and 30 s, then every minute, when the holder changes, and whenever somebody sends
/// USR1; none with --quiet but for USR1.
///
/// Asks the server about the holder when a line comes, and at no other time: a holder may have ended since the last one, and keep
/// its lock for --min-hold.
class WaitLines {
 public:
  WaitLines(Executor& redis, const Signals& signals, WaitSubject subject);

  /// For AcquireOptions: what the waiter sees now, and when it should be shown next.
  void look(const Waiting& waiting);
  TimePoint next_at() const { return next_at_; }

  /// The last word: who has it, and how a stale lock is removed.
  void give_up(const GaveUp& gave_up);

 private:
  struct Holder {
    Owner owner;
    bool looked_up = false;  ///< the server has said whether there are facts
    std::optional<Metadata> facts{};
    std::int64_t listeners = 0;         ///< who waits, ourselves included; 0: nobody can say
    std::optional<Milliseconds> now{};  ///< the server's clock, when we asked
  };

  enum class Moment { waiting, over };

  bool due(TimePoint now);
  void ask_about(const Busy& busy, const LockName& name, const Waitable* what, const Patience& patience);
  std::string line(const Busy& busy, const LockName& name, Moment moment) const;
  std::string place(const Busy& busy) const;
  std::string outlook(const Busy& busy) const;
  const LockName& name_of(const Busy& busy, std::size_t part) const;

  Executor& redis_;
  const Signals& signals_;
  const WaitSubject subject_;
  TimePoint next_at_;
  std::size_t lines_ = 0;
  int questions_ = 0;
  std::optional<Holder> holder_;
};

/// Why a deployment cannot be used, and what to do about it. `may_wait`: --wait would help.
std::string unreachable_text(const std::string& where, bool named, const Failure& failure, bool may_wait);

}  // namespace rlock
