#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "redis/mailbox.h"
#include "redis/redis.h"
#include "sync/wait/acquire_options.h"
#include "sync/wait/outage.h"
#include "sync/wait/pacing.h"
#include "sync/wait/stage.h"

namespace rlock {

/// What we wait for. The holder of a lock writes facts beside it.
enum class WaitFor { lock, no_lock };

/// The end of a round that did not acquire everything.
struct Blocked {
  const Waitable& what;        ///< the stage that could not be acquired
  const BallotResult& result;  ///< why not
  Milliseconds took;           ///< how long its call took
  std::optional<Busy> busy;    ///< the last "busy" of this wait
  Outage outage;               ///< of this wait
};

/// The sleep between two rounds of a wait. It ends when the wait ends, or when there is a reason to ask again. Reasons
/// are a message, a lost connection, the time that Pacing plans, and the last question before the end.
///
/// It listens before it sleeps. We may miss a release that comes before the server confirms the subscription.
/// So the confirmation can end the sleep, as a message does.
class Sleep {
 public:
  /// REQUIRES: `redis` and `options` outlive the Sleep.
  Sleep(Redis& redis, const AcquireOptions& options, WaitFor wait_for);

  /// A round begins: if a connection is lost from now on, the next sleep ends soon.
  void begin_round() { losses_ = redis_.losses(); }

  /// What a sleep may change of a wait.
  struct News {
    std::optional<Busy> busy;  ///< the last "busy", with our new place if messages moved us up in the line
    Outage outage;             ///< it begins if a connection is lost
  };

  /// Sleeps after a round that failed.
  [[nodiscard]] News after(Blocked blocked);

  /// For the next round. If the facts are known, its call only keeps our place.
  FactsThere facts() const noexcept { return facts_; }

  /// Listens to what the last sleep listened to, for a caller that goes on listening.
  const std::shared_ptr<Mailbox>& mailbox() const noexcept { return mailbox_; }

 private:
  /// When a sleep ends, and whether messages are the reason.
  struct Wakeup {
    TimePoint latest;               ///< no message puts off the question beyond this
    std::uint64_t losses;           ///< number of lost connections that this sleep has noted
    TimePoint by_message = kNever;  ///< when to ask because of messages
    bool moved = false;             ///< a message moved us up in the line
    bool by_text = false;  ///< such a message had a text, so it was not only a confirmed subscription
  };

  /// What ended a step.
  enum class Slept {
    until_due,  ///< it is time to ask, or the wait is over
    moved_up    ///< messages moved us up in the line: sleep on, at the pace of the new place
  };

  struct Step {
    Slept slept;
    TimePoint planned;  ///< when it was to end without a message
  };

  Step sleep_once(Blocked& blocked, TimePoint ask_by);
  Slept until_wakeup(Blocked& blocked, TimePoint latest);
  bool lost_a_connection(const Wakeup& wakeup) const { return wakeup.losses != losses_; }
  FactsThere facts_after(const Wakeup& wakeup, const Blocked& blocked) const;
  void read_messages(Blocked& blocked, TimePoint now, Wakeup& wakeup);
  void note_losses(Blocked& blocked, TimePoint now, Wakeup& wakeup);
  void sleep_until(TimePoint end);

  Redis& redis_;
  const AcquireOptions& options_;
  const bool several_nodes_;
  const WaitFor wait_for_;
  Pacing pacing_;
  std::shared_ptr<Mailbox> mailbox_;
  std::uint64_t losses_ = 0;  ///< number of lost connections before the last round
  FactsThere facts_ = FactsThere::unknown;
};

}  // namespace rlock
