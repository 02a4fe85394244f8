#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace rlock::test {

/// The witness: a command that rlock runs, and that checks by itself whether it is alone. It leaves three kinds of
/// evidence in a folder, which do not depend on rlock or Redis:
/// - Kernel locks on files. The kernel frees them when the last process of the command's tree is gone.
/// - A counter that is read and written back without atomicity.
/// - A log whose lines have the time of CLOCK_BOOTTIME.
///
/// The command line: witness hold FOLDER [shared | slots N] [for MS] [exit N] [as NAME].
std::vector<std::string> witness_command(const std::string& folder, const std::string& how = "");

/// What the evidence of a folder shows.
struct Verdict {
  std::size_t holds = 0;       ///< how often the command ran
  std::size_t unfinished = 0;  ///< holds whose command was killed before it could record its end
  std::size_t refused = 0;     ///< holds that found the kernel lock taken by another command
  std::size_t overlaps = 0;  ///< pairs whose times overlap, although they must not (for slots: more than N at
                             ///< once)
  std::size_t lost = 0;      ///< updates of the counter that another command has overwritten
  std::chrono::microseconds longest{0};  ///< the longest overlap

  bool clean() const noexcept { return refused == 0 && overlaps == 0 && lost == 0; }
  std::string str()
      const;  ///< "400 holds (0 unfinished), 0 refused by the kernel, 0 overlaps, 0 lost updates"
};

Verdict judge(const std::string& folder);

/// One time in which a command was inside.
struct Stay {
  enum class Mode { exclusive, shared, slot } mode = Mode::exclusive;
  long long enter = 0;  ///< nanoseconds of CLOCK_BOOTTIME
  long long exit = 0;   ///< the last sign of life, if it was killed
  bool finished = false;
  std::size_t limit = 1;  ///< slot: how many may be inside
  std::string name;
  std::string id;
};
std::vector<Stay> read_stays(const std::string& folder);

long long boottime_ns();

}  // namespace rlock::test
