#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sync/calls/lockable.h"
#include "sync/watch/inspection.h"

namespace rlock {

/// The facts for a wait line: the answer to the acquire, and an inspection of the key.
struct WaitView {
  TimePoint now;  ///< by our clock
  const Busy& busy;
  std::string_view state{};          ///< why it is busy, if it has no single holder: "it has too few permits"
  bool is_pool = false;              ///< it has a size, which `rlock permit set` changes
  const Inspection* seen = nullptr;  ///< the inspection for this line; null: there is none
  const Inspection* seen_once = nullptr;  ///< the last one, perhaps for an earlier line; null: there was none
  std::int64_t listeners = 0;             ///< the number of waiters, including us; 0: unknown
  std::span<const Owner> above{};         ///< of the holders, those that are processes above us
};

/// The time that a text is about. `waiting`: now. `over`: the end of the wait. `past`: the last answer.
enum class Moment { waiting, over, past };

/// The holder, our place in the queue, and when the hold ends. A holder that is known to be gone is not named.
/// An example: "'deploy': held by alice@ci-7 pid 4121 for 12m03s (make); 3rd of 5; expires in 26s if the
/// holder is dead".
std::string wait_text(const WaitView& view, Moment moment);

/// The owner that wait_text() names first; empty: it names none.
Owner named_holder(const WaitView& view);

/// The remedy for the last line; empty: the user can only wait. `words`: the key as typed.
std::string wait_remedy(const WaitView& view, const std::string& words);

}  // namespace rlock
