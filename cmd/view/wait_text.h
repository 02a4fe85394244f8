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
  std::string_view state{};  ///< why it cannot be had, of what many hold or nobody: "it has too few permits"
  const Inspection* seen = nullptr;       ///< the key as it is now; nothing where the server has not said
  const Inspection* seen_once = nullptr;  ///< as it was when the server last said it
  std::int64_t listeners = 0;             ///< who waits, ourselves included; 0: nobody can say
};

/// "waiting" is about now, "over" is the last word, "past" was true when the server answered last.
enum class Moment { waiting, over, past };

/// Who has it, which place we have, and when it ends: "'deploy': held by alice@ci-7 pid 4121 for 12m03s
/// (make); 3rd of 5; expires in 26s if the holder is dead". Nobody is named who is known to have gone.
std::string wait_text(const WaitView& view, Moment moment);

/// The owner that wait_text() names first; empty where it names nobody.
Owner named_holder(const WaitView& view);

/// What to do about it, for the last word; empty where there is nothing but to wait. `words`: how the key is
/// typed.
std::string wait_remedy(const WaitView& view, const std::string& words);

}  // namespace rlock
