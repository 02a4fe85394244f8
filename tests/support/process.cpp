#include "support/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "process/processes.h"
#include "support/contains.h"
#include "support/eventually.h"

extern char** environ;

namespace rlock::test {
namespace {

[[noreturn]] void throw_errno(const std::string& what) {
  throw std::system_error{errno, std::generic_category(), what};
}

std::string bytes_in(int fd) {
  std::string text;
  char buffer[65536];
  ssize_t got = 0;
  while ((got = ::pread(fd, buffer, sizeof buffer, static_cast<off_t>(text.size()))) > 0)
    text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

int memory_file(const char* name) {
  const int fd = ::memfd_create(name, MFD_CLOEXEC);
  if (fd < 0) throw_errno("memfd_create");
  // O_APPEND, because two writers may have different offsets, as with a pipe or a terminal.
  ::fcntl(fd, F_SETFL, O_APPEND);
  return fd;
}

Words environment(const Process::Options& options, const std::string& mark) {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string::npos) all[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& name : options.unset) all.erase(name);
  for (const auto& [name, value] : options.env) all[name] = value;
  Words result{mark};
  for (const auto& [name, value] : all) result.emplace_back(name).append("=").append(value);
  return result;
}

std::vector<char*> pointers(Words& words) {
  std::vector<char*> result;
  for (auto& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

void reset_signals(const Process::Options& options) {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  for (int number : options.ignored) ::signal(number, SIG_IGN);
  sigset_t mask;
  ::sigemptyset(&mask);
  for (int number : options.blocked) ::sigaddset(&mask, number);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
}

/// Blocks signals between fork and exec, because the handlers of the test program would run in the child.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

struct Streams {
  int in, out, err;
};

/// The process that forks. `lasts`: its main thread does. PDEATHSIG comes when the forking *thread* ends, and
/// another thread may end before the test.
struct Parent {
  pid_t pid;
  bool lasts;
};

/// The child's side of fork(). The parent has threads, so nothing here may allocate; everything is prepared.
[[noreturn]] void become(char** argv, char** env, const Process::Options& options, Streams streams,
                         Parent parent) {
  if (parent.lasts) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent.pid) ::_exit(125);
  if (options.own_session) ::setsid();
  reset_signals(options);
  ::dup2(streams.in, 0);
  ::dup2(streams.out, 1);
  ::dup2(streams.err, 2);
  for (const auto& [theirs, ours] : options.descriptors) {
    if (theirs == ours)
      ::fcntl(ours, F_SETFD, 0);
    else
      ::dup2(ours, theirs);
  }
  for (int fd : options.closed) ::close(fd);
  if (!options.directory.empty() && ::chdir(options.directory.c_str()) != 0) ::_exit(125);
  ::execvpe(argv[0], argv, env);
  ::_exit(127);
}

/// Opens it without waiting: a reader that has died would be waited for without end.
void write_pipe(const std::string& path, const std::string& text) {
  int pipe = -1;
  const auto opened = [&] { return (pipe = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)) >= 0; };
  if (!eventually(opened, std::chrono::seconds{20})) throw_errno("no reader opens " + path);
  const ssize_t written = ::write(pipe, text.data(), text.size());
  ::close(pipe);
  if (written != static_cast<ssize_t>(text.size())) throw_errno("write to " + path);
}

}  // namespace

TempDir::TempDir() {
  std::string pattern = "/tmp/rlock-test-XXXXXX";
  if (!::mkdtemp(pattern.data())) throw_errno("mkdtemp");
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const std::string& path, const std::string& text) {
  if (std::filesystem::is_fifo(path)) return write_pipe(path, text);
  std::ofstream{path, std::ios::binary} << text;
}

Process::Process(Words argv) : Process(std::move(argv), Options{}) {}

Process::Process(Words argv, const Options& options) : argv_(std::move(argv)) {
  static int count = 0;
  mark_ = "RLOCK_TEST_MARK=" + std::to_string(::getpid()) + "." + std::to_string(++count);

  out_ = memory_file("stdout");
  err_ = memory_file("stderr");
  int in = -1;
  if (options.input) {
    in = memory_file("stdin");
    if (::write(in, options.input->data(), options.input->size()) < 0) throw_errno("stdin");
    ::lseek(in, 0, SEEK_SET);
  } else {
    in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  }

  Words words = argv_;
  Words env = environment(options, mark_);
  auto argv_pointers = pointers(words);
  auto env_pointers = pointers(env);
  const Parent parent{.pid = ::getpid(), .lasts = ::gettid() == ::getpid()};
  const SignalsBlocked blocked;
  pid_ = ::fork();
  if (pid_ < 0) throw_errno("fork");
  if (pid_ == 0) become(argv_pointers.data(), env_pointers.data(), options, {in, out_, err_}, parent);
  ::close(in);
  pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));  // the wrapper of glibc 2.36 is not for C++
}

Process::Process(Process&& other) noexcept
    : argv_(std::move(other.argv_)),
      mark_(std::move(other.mark_)),
      pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::exchange(other.pidfd_, -1)),
      out_(std::exchange(other.out_, -1)),
      err_(std::exchange(other.err_, -1)),
      status_(other.status_),
      peak_bytes_(other.peak_bytes_) {}

Process::~Process() {
  if (pid_ < 0) return;
  // The second look finds processes that were forked during the first.
  for (int look = 0; look < 2; ++look) {
    for (pid_t pid : family()) ::kill(pid, SIGKILL);
    if (running()) ::kill(pid_, SIGKILL);
  }
  if (!status_) ::waitpid(pid_, nullptr, 0);
  for (int fd : {pidfd_, out_, err_}) ::close(fd);
}

bool Process::running() {
  if (status_) return false;
  int status = 0;
  rusage usage{};
  if (::wait4(pid_, &status, WNOHANG, &usage) == pid_) {
    status_ = status;
    peak_bytes_ = static_cast<std::size_t>(usage.ru_maxrss) * 1024;
  }
  return !status_;
}

void Process::signal(int number) const {
  if (!status_) ::kill(pid_, number);
}

int Process::wait_status(std::chrono::milliseconds deadline) {
  pollfd ended{pidfd_, POLLIN, 0};
  if (running()) ::poll(&ended, 1, static_cast<int>(deadline.count()));
  if (!running()) return *status_;
  std::string what;
  for (const auto& word : argv_) what += word + " ";
  throw std::runtime_error{what + "still runs after " + std::to_string(deadline.count()) + " ms; stdout:\n" +
                           out() + "stderr:\n" + err()};
}

int Process::exit_code(std::chrono::milliseconds deadline) {
  const int status = wait_status(deadline);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string Process::out() const { return bytes_in(out_); }
std::string Process::err() const { return bytes_in(err_); }

std::vector<pid_t> Process::family() const { return processes_with(mark_); }

std::string output_of(Words argv, std::chrono::milliseconds deadline) {
  Process process{std::move(argv)};
  process.wait_status(deadline);
  return process.out();
}

char state_of(pid_t pid) {
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const auto name_ends = stat.rfind(')');
  return name_ends == std::string::npos || name_ends + 2 >= stat.size() ? '\0' : stat[name_ends + 2];
}

pid_t guardian_in(const std::vector<pid_t>& processes) {
  for (const pid_t pid : processes)
    if (read_file("/proc/" + std::to_string(pid) + "/comm") == "guardian\n" && alive(pid)) return pid;
  return 0;
}

pid_t keeper_in(const std::vector<pid_t>& processes) {
  for (const pid_t pid : processes) {
    const std::string folder = "/proc/" + std::to_string(pid);
    if (read_file(folder + "/comm") == "rlock\n" && contains(read_file(folder + "/cmdline"), "--while-pid"))
      return pid;
  }
  return 0;
}

bool alive(pid_t pid) {
  const char state = state_of(pid);
  return state != '\0' && state != 'Z' && state != 'X';
}

bool gone(pid_t pid) {
  return eventually([&] { return !alive(pid); });
}

std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> found;
  DIR* proc = ::opendir("/proc");
  if (!proc) return found;
  const std::string wanted = '\0' + text + '\0';
  while (const dirent* entry = ::readdir(proc)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0 || pid == ::getpid()) continue;
    // proc_text() has a limit, because one test makes an environment of a gigabyte.
    const auto env = '\0' + proc_text(pid, "environ").value_or("");
    if (contains(env, wanted) && alive(pid)) found.push_back(pid);
  }
  ::closedir(proc);
  return found;
}

std::string program(const std::string& name) {
  if (const char* folder = std::getenv("RLOCK_PROGRAMS")) return std::string{folder} + "/" + name;
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

}  // namespace rlock::test
