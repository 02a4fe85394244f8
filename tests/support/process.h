#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rlock::test {

using Words = std::vector<std::string>;

/// A folder of our own below /tmp, removed with everything in it at the end.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const noexcept { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string read_file(const std::string& path);  ///< empty when there is none
void write_file(const std::string& path, const std::string& text);

/// A program that a test has started. Its output goes into memory files, so that nobody has to read a pipe
/// and an orphan cannot hold us up. It dies with the test (PDEATHSIG), and with the Process: the destructor
/// kills everything that was started below it and still runs, found by a mark in the environment.
class Process {
 public:
  struct Options {
    std::map<std::string, std::string> env;  ///< set on top of our own environment
    std::vector<std::string> unset;          ///< taken out of it
    std::optional<std::string> input;        ///< what stdin says; nothing: /dev/null
    std::vector<int> closed;                 ///< descriptors that it does not get
    std::map<int, int> descriptors;          ///< its number -> our descriptor; over the ones above
    std::string directory;                   ///< where it starts
    bool own_session = false;                ///< setsid: what is sent to our terminal does not reach it
    std::vector<int> blocked;                ///< signals that it starts with blocked
    std::vector<int> ignored;                ///< signals that it starts with ignored
  };

  Process(Words argv, const Options& options);
  explicit Process(Words argv);
  ~Process();
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;

  pid_t pid() const noexcept { return pid_; }

  /// Does it still run? (A zombie does not.)
  bool running();
  void signal(int number) const;

  /// What a shell would say: the status, or 128 + the signal that ended it.
  /// Throws when it still runs at the deadline; the text has what it printed.
  int exit_code(std::chrono::milliseconds deadline = std::chrono::seconds{10});

  /// As waitpid() gave it. Throws like exit_code().
  int wait_status(std::chrono::milliseconds deadline = std::chrono::seconds{10});

  /// The most memory that it ever had in use, or one of its own that it waited for. REQUIRES: it has ended
  std::size_t peak_bytes() const { return peak_bytes_; }

  /// What it has printed so far.
  std::string out() const;
  std::string err() const;

  /// Processes that were started by it or below it and still run, itself included.
  std::vector<pid_t> family() const;

 private:
  Words argv_;
  std::string mark_;
  pid_t pid_ = -1;
  int pidfd_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::optional<int> status_;
  std::size_t peak_bytes_ = 0;
};

/// What a program prints when it runs to its end; throws when it takes longer.
std::string output_of(Words argv, std::chrono::milliseconds deadline = std::chrono::seconds{30});

/// 'S', 'T', 'Z', ... from /proc; 0 when there is no such process.
char state_of(pid_t pid);

/// Processes in whose environment `text` ("NAME=value") stands as a whole.
std::vector<pid_t> processes_with(const std::string& text);

/// Another process, started by the test or not, is waited for by looking.
bool alive(pid_t pid);

/// A program that is built beside the tests ("witness"): the
/// folder is $RLOCK_PROGRAMS, else the one of this executable.
std::string program(const std::string& name);

}  // namespace rlock::test
