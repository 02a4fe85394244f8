#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "support/process.h"

namespace rlock::test {

/// The path of the rlock under test: $RLOCK_BINARY, else the rlock beside this executable.
std::string rlock_binary();

/// Copies rlock into `folder` so that other users can run it, and returns the path of the copy. If this tree lies in
/// /root or in a home of Debian 13, other users cannot reach the original.
std::string for_everybody(const std::string& folder);

/// Runs the real binary with arguments. See Process.
class Rlock : public Process {
 public:
  Rlock(Words arguments, const Options& options);
  explicit Rlock(Words arguments) : Rlock(std::move(arguments), clean_environment()) {}

  /// An environment without the variables of rlock, and without a home that has a config file.
  static Options clean_environment();
};

/// A program on a terminal of its own. type() sends text as if a user typed it.
class Pty {
 public:
  Pty(Words argv, const Process::Options& options);
  ~Pty();
  Pty(const Pty&) = delete;
  Pty& operator=(const Pty&) = delete;

  pid_t pid() const noexcept { return pid_; }
  void type(const std::string& keys) const;

  /// Waits until `text` appears after the text that the last expect() found. Throws with the screen if it
  /// does not.
  void expect(const std::string& text, std::chrono::milliseconds deadline = std::chrono::seconds{10});

  /// Everything printed so far, as the terminal got it ("\r\n" at line ends).
  const std::string& screen();

  /// The process group that has the terminal.
  pid_t foreground() const;

  /// Waits until every process of `group` is stopped. A shell prints "Stopped" as soon as its own child is
  /// stopped. At that time a grandchild may not be stopped yet, and would read the next stroke.
  void expect_stopped(pid_t group);

  bool running();
  int exit_code(std::chrono::milliseconds deadline = std::chrono::seconds{10});  ///< see Process::exit_code
  int wait_status(std::chrono::milliseconds deadline = std::chrono::seconds{10});

  static constexpr const char* kInterrupt = "\x03";  ///< ^C
  static constexpr const char* kQuit = "\x1c";       ///< ^\.
  static constexpr const char* kSuspend = "\x1a";    ///< ^Z
  static constexpr const char* kEnd = "\x04";        ///< ^D

 private:
  void read_all();

  std::string mark_;
  pid_t pid_ = -1;
  int master_ = -1;
  int status_ = -1;
  std::string screen_;
  std::size_t seen_ = 0;
};

}  // namespace rlock::test
