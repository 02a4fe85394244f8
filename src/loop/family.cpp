// Who belongs to the command, read from the kernel each time: nothing about processes is kept, since any of
// them may fork or end at any moment. The group is signalled as one. Processes that have left it (timeout,
// set -m) are found in /proc by the marks in their environment, one by one.
//
// A number may have a new owner by the time we use it. So a process counts only if it is in our session, and
// a group only if its processes are; a guardian may wake up after days, when the group's number is somebody
// else's.
//
// Where /proc shows nothing (a chroot, another pid namespace) only the kernel's answer about the group as a
// whole is left: it exists, or it does not. It is taken for alive then: to wait in vain is better than to
// release a lock while the command runs.

#include "loop/family.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace rlock {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

/// All processes that /proc shows.
std::vector<pid_t> everybody() {
  std::vector<pid_t> pids;
  if (!Family::proc_shows_us()) return pids;
  const std::unique_ptr<DIR, CloseDirectory> proc{::opendir("/proc")};
  if (!proc) return pids;
  while (const dirent* entry = ::readdir(proc.get())) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid > 0) pids.push_back(pid);
  }
  return pids;
}

/// No exec takes more than 6 MiB of arguments and environment. But a process can make the kernel show all of
/// its memory as its environment, and reading that must not exhaust ours.
constexpr std::size_t kLongestFile = std::size_t{8} << 20;

std::string contents_of(pid_t pid, const char* file) {
  std::string text;
  const int fd = ::open(("/proc/" + std::to_string(pid) + "/" + file).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char buffer[4096];
  ssize_t got = 0;
  while (text.size() < kLongestFile && (got = ::read(fd, buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(got));
  ::close(fd);
  return text;
}

/// What /proc/PID/stat says behind the name of the process: the state, the parent, ... Empty: there is none.
std::vector<std::string> stat_of(pid_t pid) {
  const std::string stat = contents_of(pid, "stat");
  const auto name_ends = stat.rfind(") ");  // the last one: a name may hold anything, also ") "
  if (name_ends == std::string::npos || name_ends + 2 >= stat.size()) return {};
  return split(stat.substr(name_ends + 2), ' ');
}

bool is_alive(pid_t pid) {
  const std::vector<std::string> stat = stat_of(pid);
  return !stat.empty() && stat[0] != "Z" && stat[0] != "X";
}

pid_t parent_of(pid_t pid) {
  constexpr std::size_t kParent = 1;
  const std::vector<std::string> stat = stat_of(pid);
  return stat.size() > kParent ? std::atoi(stat[kParent].c_str()) : 0;
}

/// In clock ticks since the system was started.
std::string start_of(pid_t pid) {
  constexpr std::size_t kStarted = 19;
  const std::vector<std::string> stat = stat_of(pid);
  return stat.size() > kStarted ? stat[kStarted] : "";
}

}  // namespace

Family::Family(pid_t group, pid_t session, std::vector<std::string> marks)
    : group_(group), session_(session), marks_(std::move(marks)) {}

Family Family::of_script(pid_t script, pid_t keeper) {
  Family family{0, ::getsid(0), {}};
  family.script_ = script;
  family.keeper_ = keeper;
  family.tree_.push_back({script, start_of(script)});
  return family;
}

bool Family::proc_shows_us() {
  char self[16];
  const ssize_t size = ::readlink("/proc/self", self, sizeof self);
  return size > 0 && std::string_view{self, static_cast<std::size_t>(size)} == std::to_string(::getpid());
}

std::vector<pid_t> Family::signal(int number) const {
  // To the group as one: signalled one by one, a process could fork a new one behind our back.
  if (group_is_ours()) ::kill(-group_, number);
  std::vector<pid_t> refused;
  if (script_ != 0) {
    for (const pid_t pid : of_tree())
      if (::kill(pid, number) != 0 && errno == EPERM) refused.push_back(pid);
    return refused;
  }
  for (const pid_t pid : all()) {
    // Those of the group have it already; 0 only asks whether we may signal them.
    if (::kill(pid, is_in_group(pid) ? 0 : number) != 0 && errno == EPERM) refused.push_back(pid);
  }
  return refused;
}

std::vector<pid_t> Family::in_group() const {
  std::vector<pid_t> found;
  for (const pid_t pid : everybody())
    if (is_in_group(pid) && is_alive(pid)) found.push_back(pid);
  return found;
}

bool Family::group_lives() const {
  if (!group_exists() || !group_is_ours()) return false;  // the cheap question first: mostly nobody is left
  bool shown = false;
  for (const pid_t pid : everybody()) {
    if (!is_in_group(pid)) continue;
    if (is_alive(pid)) return true;
    shown = true;
  }
  return !shown && group_exists();  // again, since the last zombie may have been reaped meanwhile
}

bool Family::script_lives() const { return lives(tree_.front()); }

bool Family::lives(const Member& member) const {
  if (!proc_shows_us()) return ::kill(member.pid, 0) == 0 || errno == EPERM;
  return is_alive(member.pid) && start_of(member.pid) == member.started;
}

/// Each whose parent is one of them belongs to them, but for the keeper: a script that adopts orphans is its
/// parent.
std::vector<pid_t> Family::of_tree() const {
  std::vector<Member> living;
  for (const Member& member : tree_)
    if (lives(member)) living.push_back(member);
  const std::vector<pid_t> others = everybody();
  for (std::size_t i = 0; i < living.size(); ++i) {
    for (const pid_t pid : others) {
      const bool known = std::ranges::any_of(living, [&](const Member& one) { return one.pid == pid; });
      if (!known && pid != keeper_ && parent_of(pid) == living[i].pid && is_alive(pid))
        living.push_back({pid, start_of(pid)});
    }
  }
  std::vector<pid_t> pids;
  for (const Member& member : living) pids.push_back(member.pid);
  if (!lives(tree_.front())) living.insert(living.begin(), tree_.front());  // script_lives() asks for it
  tree_ = std::move(living);
  return pids;
}

std::vector<pid_t> Family::all() const {
  if (script_ != 0) return of_tree();
  std::vector<pid_t> found;
  const pid_t self = ::getpid();
  for (const pid_t pid : everybody()) {
    if (pid == self || ::getsid(pid) != session_) continue;
    if ((is_in_group(pid) || is_marked(pid)) && is_alive(pid)) found.push_back(pid);
  }
  return found;
}

bool Family::may_hide_somebody() const {
  if (!proc_shows_us()) return true;
  if (script_ != 0) return false;
  const pid_t self = ::getpid();
  return std::ranges::any_of(everybody(), [&](pid_t pid) {
    if (pid == self || ::getsid(pid) != session_ || !is_alive(pid)) return false;
    const std::string environment = "/proc/" + std::to_string(pid) + "/environ";
    return ::access(environment.c_str(), R_OK) != 0 && errno == EACCES;
  });
}

/// As the kernel says: zombies count, and EPERM means that somebody is there.
bool Family::group_exists() const { return group_ > 1 && (::kill(-group_, 0) == 0 || errno != ESRCH); }

/// Its number may be that of another group by now. All processes of a group are in one session, so any of
/// them can tell: the first one if it still exists, else those that /proc shows. Nobody to tell: it is ours.
bool Family::group_is_ours() const {
  if (group_ <= 1) return false;
  const pid_t session_of_first = ::getsid(group_);
  if (session_of_first >= 0) return session_of_first == session_;
  return std::ranges::none_of(
      everybody(), [&](pid_t pid) { return ::getpgid(pid) == group_ && ::getsid(pid) != session_; });
}

bool Family::is_in_group(pid_t pid) const {
  // 0 is the group of whoever lives outside our pid namespace.
  return group_ > 1 && ::getpgid(pid) == group_ && ::getsid(pid) == session_;
}

bool Family::is_marked(pid_t pid) const {
  if (marks_.empty()) return false;
  // Each entry ends with a zero byte. A run inside this one appends lines to RLOCK_STACK: hence the newline.
  const std::string environment = '\0' + contents_of(pid, "environ");
  return std::ranges::all_of(marks_, [&](const std::string& mark) {
    const std::string entry = '\0' + mark;
    return environment.find(entry + '\0') != std::string::npos ||
           environment.find(entry + '\n') != std::string::npos;
  });
}

}  // namespace rlock
