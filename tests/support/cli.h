#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "support/process.h"

namespace rlock::test {

/// The rlock under test: $RLOCK_BINARY, else the one beside this executable.
std::string rlock_binary();

/// The real binary with arguments. See Process for what can be asked of it.
class Rlock : public Process {
 public:
  Rlock(Words arguments, const Options& options);
  explicit Rlock(Words arguments) : Rlock(std::move(arguments), clean_environment()) {}

  /// Nothing of what rlock reads from the environment, and no home with a configuration file.
  static Options clean_environment();
};

/// A program under a terminal of its own: what is typed reaches it as a person's keys would.
class Pty {
 public:
  Pty(Words argv, const Process::Options& options);
  ~Pty();
  Pty(const Pty&) = delete;
  Pty& operator=(const Pty&) = delete;

  pid_t pid() const noexcept { return pid_; }
  void type(const std::string& keys);

  /// Waits until `text` appears after what the last expect() found; throws with the screen when it does not.
  void expect(const std::string& text, std::chrono::milliseconds deadline = std::chrono::seconds{10});

  /// Everything printed so far, as the terminal got it ("\r\n" at line ends).
  const std::string& screen();

  /// Which process group has the terminal.
  pid_t foreground() const;

  /// Waits until every process of `group` is stopped. A shell says "Stopped" when its own child is: a grandchild
  /// that waits for keys may not have run since, and would still take the first one that is typed now.
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
