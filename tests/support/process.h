#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rlock::test {

using Words = std::vector<std::string>;

/// How long a test waits at most for a step that takes milliseconds on an idle machine.
constexpr std::chrono::seconds kPatience{20};
constexpr std::chrono::seconds kDeadline{30};      ///< the same for a few steps
constexpr std::chrono::seconds kLongDeadline{60};  ///< the same for many processes at once

/// A folder below /tmp; the destructor removes it with all its files.
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

std::string read_file(const std::string& path);                     ///< empty if there is no file
void write_file(const std::string& path, const std::string& text);  ///< a FIFO needs a reader within 20 s

/// A program that a test has started. Its output goes into memory files, so the test need not read while the
/// program runs. If the main thread started it, it dies with the test (PDEATHSIG). The destructor kills it and
/// all processes that it has started, which have the same mark in their environment.
class Process {
 public:
  struct Options {
    std::map<std::string, std::string> env;  ///< added to our own environment
    std::vector<std::string> unset;          ///< removed from it
    std::optional<std::string> input;        ///< contents of stdin; empty: /dev/null
    std::vector<int> closed;                 ///< descriptors that it does not get
    std::map<int, int> descriptors;          ///< its number -> our descriptor; these replace the ones above
    std::string directory;                   ///< its working directory
    bool own_session = false;                ///< setsid: signals of our terminal do not reach it
    std::vector<int> blocked;                ///< signals that are blocked at its start
    std::vector<int> ignored;                ///< signals that are ignored at its start
  };

  Process(Words argv, const Options& options);
  explicit Process(Words argv);
  ~Process();
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;

  pid_t pid() const noexcept { return pid_; }

  /// Does it still run? False for a zombie.
  bool running();
  void signal(int number) const;

  /// The exit status in the form of a shell: the status, or 128 + the signal. If it still runs at the
  /// deadline, throws with its output.
  int exit_code(std::chrono::milliseconds deadline = std::chrono::seconds{10});

  /// The status from waitpid(). Throws like exit_code().
  int wait_status(std::chrono::milliseconds deadline = std::chrono::seconds{10});

  /// The largest memory of it or of a child that it waited for, in bytes. REQUIRES: it has ended.
  std::size_t peak_bytes() const { return peak_bytes_; }

  /// Its output so far.
  std::string out() const;
  std::string err() const;

  /// The running processes that it or its descendants started, including itself.
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

/// Runs a program to its end, and returns its output. Throws if it takes longer.
std::string output_of(Words argv, std::chrono::milliseconds deadline = std::chrono::seconds{30});

/// 'S', 'T', 'Z', … from /proc; 0: there is no such process.
char state_of(pid_t pid);

/// The processes with exactly this entry ("NAME=value") in their environment.
std::vector<pid_t> processes_with(const std::string& text);

/// The guardian of an rlock among these processes, which lives; 0: there is none.
pid_t guardian_in(const std::vector<pid_t>& processes);

/// The keeper of a script among these processes: the rlock whose command line contains --while-pid. 0: there is none.
pid_t keeper_in(const std::vector<pid_t>& processes);

/// Does any process with this number exist?
bool alive(pid_t pid);

/// Waits until it does not, as eventually() waits.
bool gone(pid_t pid);

/// The path of a program that is built beside the tests ("witness"). The folder is $RLOCK_PROGRAMS, else that
/// of this executable.
std::string program(const std::string& name);

}  // namespace rlock::test
