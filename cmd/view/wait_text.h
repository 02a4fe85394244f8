#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync/kinds/lockable.h"
#include "sync/watch/inspect.h"

namespace rlock {

/// What is known to a waiter: what the server said to the acquire, and what an inspection of the key has
/// found besides.
struct WaitView {
  const LockName& name;
  TimePoint now;  ///< of ours
  const Busy& busy;
  std::string_view state{};          ///< why it is busy, if it has no single holder: "it has too few permits"
  const Inspection* seen = nullptr;  ///< the key as it is now; nothing where the server has not said
  const Inspection* seen_once = nullptr;  ///< as it was when the server last said it
  std::int64_t listeners = 0;             ///< the number of waiters, ourselves included; 0: unknown
};

/// "waiting" is about now, "over" is the last word, "past" was true when the server answered last.
enum class Moment { waiting, over, past };

/// The holder, our place in the queue, and when the hold ends: "'deploy': held by alice@ci-7 pid 4121 for
/// 12m03s (make); 3rd of 5; expires in 26s if the holder is dead". A holder that is known to have gone is
/// not named.
std::string wait_text(const WaitView& view, Moment moment);

/// The owner that wait_text() names first; empty if it names no owner.
Owner named_holder(const WaitView& view);

/// The remedy, for the last line; empty if the user can only wait. `words`: how the key is typed.
std::string wait_remedy(const WaitView& view, const std::string& words);

}  // namespace rlock
