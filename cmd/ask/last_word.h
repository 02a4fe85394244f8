#pragma once

#include <string>
#include <string_view>

#include "cmd/ask/wait_lines.h"

namespace rlock {

/// The end of a wait without success: what rlock prints, and its exit status. The constructor ends the lines.
/// REQUIRES: lines and gave_up outlive it.
class LastWord {
 public:
  LastWord(WaitLines& lines, const GaveUp& gave_up);

  /// Prints why there is no lock, and returns the exit status for it. If it is busy: the holder, and how to remove a
  /// stale lock. `then`: the end of the text about a server that failed, "; ...".
  [[nodiscard]] int not_held(std::string_view then = {});

  /// After a signal: prints what rlock waited for.
  void interrupted(int signal);

  /// After a newer waiter has come (--newest): prints who it is.
  void superseded();

  /// Why the server has failed, for people, with the last answer of the server and its age: "; 8.1s ago 'db' was held
  /// by ...". `then`: as in not_held().
  std::string failure(std::string_view then);

 private:
  void busy();
  void look_again();

  WaitLines& lines_;
  const GaveUp& gave_up_;
  std::string waited_;
  Session& session_;
  WaitNews& news_;
};

}  // namespace rlock
