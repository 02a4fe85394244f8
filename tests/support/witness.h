#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace rlock::test {

/// The witness: a command that rlock runs, and that sees by itself whether it is alone. Three kinds of
/// evidence in one folder, none of which knows of rlock or Redis: kernel locks on files (the kernel frees
/// them exactly when the last process of the command's tree is gone), a counter that is read, waited for and
/// written back without any atomicity, and a log whose lines are stamped with CLOCK_BOOTTIME.
///
/// How the command is written: witness hold FOLDER [shared | slots N] [for MS] [exit N] [as NAME].
std::vector<std::string> witness_command(const std::string& folder, const std::string& how = "");

/// What the evidence says.
struct Verdict {
  std::size_t holds = 0;       ///< how often the command ran
  std::size_t unfinished = 0;  ///< of them: killed before they could say that they end
  std::size_t refused = 0;     ///< the kernel lock was taken already: somebody else was inside
  std::size_t overlaps =
      0;                 ///< pairs whose times overlap though they may not (of slots: more than N at once)
  std::size_t lost = 0;  ///< updates of the counter that somebody else's have undone
  std::chrono::microseconds longest{0};  ///< of the overlaps

  bool clean() const noexcept { return refused == 0 && overlaps == 0 && lost == 0; }
  std::string str() const;  ///< "400 holds, 0 refused, 0 overlaps, 0 lost updates"
};

Verdict judge(const std::string& folder);

/// One stretch in which a command was inside.
struct Stay {
  enum class Mode { exclusive, shared, slot } mode = Mode::exclusive;
  long long enter = 0;  ///< nanoseconds of CLOCK_BOOTTIME
  long long exit = 0;   ///< of the last sign of life where it was killed
  bool finished = false;
  std::size_t limit = 1;  ///< slot: how many may be inside
  std::string name;
  std::string id;
};
std::vector<Stay> read_stays(const std::string& folder);

long long boottime_ns();

}  // namespace rlock::test
