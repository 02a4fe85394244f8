#include "sync/records/hold_outcome.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace rlock {
namespace {

struct Word {
  HoldOutcome outcome;
  std::string_view text;
};

constexpr std::array kWords{
    Word{HoldOutcome::ran, "ran"},
    Word{HoldOutcome::busy, "busy"},
    Word{HoldOutcome::unreachable, "unreachable"},
    Word{HoldOutcome::lost, "lost"},
    Word{HoldOutcome::max_hold, "max-hold"},
    Word{HoldOutcome::stopped, "stopped"},
    Word{HoldOutcome::not_started, "not-started"},
    Word{HoldOutcome::interrupted, "interrupted"},
    Word{HoldOutcome::deadlock, "deadlock"},
    Word{HoldOutcome::superseded, "superseded"},
    Word{HoldOutcome::done, "done"},
    Word{HoldOutcome::error, "error"},
    Word{HoldOutcome::killed, "killed"},
    Word{HoldOutcome::released, "released"},
    Word{HoldOutcome::removed, "removed"},
    Word{HoldOutcome::unknown, "unknown"},
};
static_assert(kWords.size() == static_cast<std::size_t>(HoldOutcome::unknown) + 1);

}  // namespace

std::string_view text_of(HoldOutcome outcome) {
  return std::ranges::find(kWords, outcome, &Word::outcome)->text;
}

HoldOutcome outcome_in(std::string_view word) {
  const auto* const found = std::ranges::find(kWords, word, &Word::text);
  return found == kWords.end() ? HoldOutcome::unknown : found->outcome;
}

}  // namespace rlock
