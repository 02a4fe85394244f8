#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "redis/redis.h"
#include "sync/watch/inspection_steps.h"

namespace rlock {

/// Inspects a key, and counts the listeners on a channel, while its caller does something else, such as
/// waiting.
///
/// It is passive: call begin(), then advance() after turns of the loop. It goes on when a quorum has
/// answered, so a silent server costs only its own view.
class Inquiry {
 public:
  explicit Inquiry(Redis& redis) : redis_(redis) {}

  /// Begins an inspection, and drops an earlier one. `channel`: its listeners are counted; empty: no
  /// listeners are counted. `answer_within`: a server that takes longer counts as silent, and its connection
  /// is abandoned.
  void begin(const LockName& name, const std::optional<Channel>& channel, Milliseconds answer_within);

  /// Like begin(), but asks only what a wait line needs: see glance_at(). `asker` may be empty.
  void glance(const LockName& name, const Owner& asker, const std::optional<Channel>& channel,
              Milliseconds answer_within);

  /// Reads the answers that have come, and posts the next call.
  void advance();
  TimePoint wake_at() const;

  bool under_way() const noexcept { return static_cast<bool>(asked_); }
  TimePoint begun_at() const noexcept { return begun_; }

  /// After the end: the view of each server that answered, and the number of listeners (0 if it is unknown).
  std::vector<Inspection> seen() const;
  std::int64_t listeners() const noexcept { return listeners_; }

  void drop();

 private:
  void begin(InspectionSteps steps, const LockName& name, const std::optional<Channel>& channel,
             Milliseconds answer_within);
  bool answered() const;
  void post_next();
  void read_listeners_of_all();

  Redis& redis_;
  Milliseconds answer_within_{0};
  TimePoint begun_{};
  std::optional<InspectionSteps> steps_;
  Redis::Request asked_, count_;
  std::int64_t listeners_ = 0;
};

}  // namespace rlock
