#include "support/cli.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "support/eventually.h"

extern char** environ;

namespace rlock::test {
namespace {

Words with_binary(Words arguments) {
  arguments.insert(arguments.begin(), rlock_binary());
  return arguments;
}

}  // namespace

std::string rlock_binary() {
  const char* named = std::getenv("RLOCK_BINARY");
  return named && *named ? named : program("rlock");
}

std::string for_everybody(const std::string& folder) {
  using std::filesystem::perms;
  const std::string copy = folder + "/rlock";
  std::filesystem::copy_file(rlock_binary(), copy, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::permissions(copy, perms{0755});
  std::filesystem::permissions(folder, perms::others_exec, std::filesystem::perm_options::add);
  return copy;
}

Rlock::Rlock(Words arguments, const Options& options) : Process(with_binary(std::move(arguments)), options) {}

Process::Options Rlock::clean_environment() {
  Options options;
  for (char** entry = environ; *entry; ++entry) {
    const std::string name{*entry, std::strcspn(*entry, "=")};
    const bool ours = name.starts_with("RLOCK_") && name != "RLOCK_PROGRAMS" && name != "RLOCK_BINARY";
    if (ours || name == "REDIS_URL" || name == "REDISCLI_AUTH" || name == "VALKEYCLI_AUTH" ||
        name.starts_with("XDG_"))
      options.unset.push_back(name);
  }
  options.env["HOME"] = "/nonexistent";
  return options;
}

Pty::Pty(Words argv, const Process::Options& options) {
  static int count = 0;
  mark_ = std::to_string(::getpid()) + ".pty" + std::to_string(++count);
  std::vector<char*> words;
  for (auto& word : argv) words.push_back(word.data());
  words.push_back(nullptr);

  winsize size{50, 200, 0, 0};
  pid_ = ::forkpty(&master_, nullptr, nullptr, &size);
  if (pid_ < 0) throw std::runtime_error{"no pseudo terminal"};
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
    for (const auto& name : options.unset) ::unsetenv(name.c_str());
    for (const auto& [name, value] : options.env) ::setenv(name.c_str(), value.c_str(), 1);
    ::setenv("RLOCK_TEST_MARK", mark_.c_str(), 1);
    ::setenv("TERM", "dumb", 1);
    ::setenv("PS1", "$ ", 1);
    for (int fd : options.closed) ::close(fd);
    if (!options.directory.empty() && ::chdir(options.directory.c_str()) != 0) ::_exit(125);
    ::execvp(words[0], words.data());
    ::_exit(127);
  }
  ::fcntl(master_, F_SETFL, O_NONBLOCK);
  ::fcntl(master_, F_SETFD, FD_CLOEXEC);
}

Pty::~Pty() {
  for (int look = 0; look < 2; ++look) {
    for (pid_t pid : processes_with("RLOCK_TEST_MARK=" + mark_)) ::kill(pid, SIGKILL);
    if (running()) ::kill(pid_, SIGKILL);
  }
  ::close(master_);
  if (status_ < 0) ::waitpid(pid_, nullptr, 0);
}

void Pty::type(const std::string& keys) const {
  if (::write(master_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size()))
    throw std::runtime_error{"the terminal takes no keys"};
}

void Pty::read_all() {
  char buffer[65536];
  ssize_t got = 0;
  while ((got = ::read(master_, buffer, sizeof buffer)) > 0)
    screen_.append(buffer, static_cast<std::size_t>(got));
}

const std::string& Pty::screen() {
  read_all();
  return screen_;
}

void Pty::expect(const std::string& text, std::chrono::milliseconds deadline) {
  const bool found = eventually([&] { return screen().find(text, seen_) != std::string::npos; }, deadline);
  if (!found)
    throw std::runtime_error{"'" + text + "' does not appear; the screen:\n" + screen_.substr(seen_)};
  seen_ = screen_.find(text, seen_) + text.size();
}

pid_t Pty::foreground() const { return ::tcgetpgrp(master_); }

void Pty::expect_stopped(pid_t group) {
  const bool stopped = eventually([&] {
    for (pid_t pid : processes_with("RLOCK_TEST_MARK=" + mark_))
      if (::getpgid(pid) == group && state_of(pid) != 'T') return false;
    return true;
  });
  if (!stopped) throw std::runtime_error{"a process of the stopped job runs; the screen:\n" + screen()};
}

bool Pty::running() {
  int status = 0;
  if (status_ < 0 && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_ < 0;
}

int Pty::wait_status(std::chrono::milliseconds deadline) {
  // It reads meanwhile, because a program that prints more than the terminal holds would never end.
  const bool ended = eventually(
      [&] {
        read_all();
        return !running();
      },
      deadline);
  read_all();
  if (!ended) throw std::runtime_error{"it still runs; the screen:\n" + screen_};
  return status_;
}

int Pty::exit_code(std::chrono::milliseconds deadline) {
  const int status = wait_status(deadline);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace rlock::test
