#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loop/source.h"
#include "redis/mailbox.h"
#include "sync/wait/wish.h"

namespace rlock {

/// Hears `rlock stop`, and `rlock unlock`, for a run that holds. It begins to listen when the run is a second
/// old: most runs are over by then, and are to cost the server nothing for it.
///
/// It also ends the subscriptions of the wait, which stand until then: to where releases are announced. Others
/// give back permits while we hold ours: after a few messages the server pays more for these than for
/// UNSUBSCRIBE, so the subscriptions end at once.
class StopRequests final : public Source {
 public:
  StopRequests(Redis& redis, std::span<const Part> parts, TimePoint now);
  ~StopRequests() override;
  StopRequests(const StopRequests&) = delete;
  StopRequests& operator=(const StopRequests&) = delete;

  /// Who asks us to end, and why; once there is one it stays.
  const std::optional<std::string>& asked();

  /// Who says that it has removed our lock by force, and why; once there is one it stays.
  const std::optional<std::string>& removed();

  /// Has somebody said so since this was asked last? The message may be earlier than the removal, and come
  /// once more behind it.
  bool take_removal();

  TimePoint wake_at() const override { return hears_too_much() ? TimePoint::min() : listen_at_; }
  void ready(short events, TimePoint now) override;

 private:
  bool hears_too_much() const;
  void end_wait();
  void hear();

  Redis& redis_;
  std::vector<Channel> channels_;
  std::vector<Channel> of_waiters_;  ///< where releases are announced; empty: we do not listen there any more
  std::uint64_t heard_before_;       ///< Redis::wakeups() when the hold began
  TimePoint listen_at_;
  std::optional<Mailbox> mailbox_;  ///< nothing: we do not listen yet
  std::optional<std::string> asked_, removed_;
  bool has_removal_ = false;
};

}  // namespace rlock
