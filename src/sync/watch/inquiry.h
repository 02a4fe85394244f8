#pragma once

#include <optional>
#include <vector>

#include "redis/redis.h"
#include "sync/watch/inspection_steps.h"

namespace rlock {

/// An inspection of a key beside something else that goes on, such as a wait for it; and how many listen to a
/// channel.
///
/// Passive like a Source, for whoever owns it: begin(), then advance() after turns of the loop. Takes what a
/// quorum answers: a server that is silent costs nothing but its own view.
class Inquiry {
 public:
  explicit Inquiry(Redis& redis) : redis_(redis) {}

  /// Starts again. `channel`: whose listeners are to be counted; nothing: of none. `answer_within`: a server
  /// that takes longer is silent, and its connection is abandoned.
  void begin(const LockName& name, const std::optional<Channel>& channel, Milliseconds answer_within);

  /// The same by one call, for a wait line: a glance for `asker`, who may be empty. See glance_at().
  void glance(const LockName& name, const Owner& asker, const std::optional<Channel>& channel,
              Milliseconds answer_within);

  /// Goes on where answers have come.
  void advance();
  TimePoint wake_at() const;

  bool under_way() const noexcept { return static_cast<bool>(asked_); }
  TimePoint begun_at() const noexcept { return begun_; }

  /// When the inquiry is over: what each server sees that answered, maybe none; and how many listen, 0 where
  /// nobody can say.
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
