// The group is signalled as one: kill(-group) is atomic, and the kernel lets no member fork while the signal
// is on its way. The processes that have left it (timeout, set -m) are found in /proc by the marks in their
// environment. A marked process passes its mark on to its children, so the next look finds them even if their
// parent has ended.
//
// If /proc shows nothing (a chroot, another pid namespace), only the kernel's answer about the whole group is left:
// it exists, or it does not. If it exists, it counts as alive, because to wait in vain is better than to release a
// lock while the command runs.

#include "family/command_family.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "base/blocking.h"
#include "family/find_apart.h"

namespace rlock {
namespace {

/// execve() takes less time than these looks.
constexpr int kLooksAtExec = 5;

/// A search that a release waits for has no time limit. But the thread that renews the lock must not hang, so the search
/// ends with the first process that does not answer, and the caller comes again.
constexpr SearchLimit kBeforeRelease{.silences = 1};
constexpr Milliseconds kOneTurn{100};

/// In microseconds.
constexpr useconds_t kBetweenLooks = 500;

bool is_alive(pid_t pid) {
  const auto facts = facts_of(pid);
  return facts && facts->alive();
}

/// The environment of a process; empty if it is not shown to us. During execve() a process shows neither arguments nor
/// environment. Then this function looks again.
std::string environment_of(pid_t pid) {
  std::optional<std::string> environment = proc_text(pid, "environ");
  for (int i = 0; i < kLooksAtExec && environment && environment->empty(); ++i) {
    if (proc_text(pid, "cmdline") != "" || !is_alive(pid)) break;
    ::usleep(kBetweenLooks);
    environment = proc_text(pid, "environ");
  }
  return environment.value_or("");
}

/// The sessions that began before this process.
class OlderSessions {
 public:
  /// Is the process in one of them? The number of a session is that of its first process, and no other process gets it
  /// while the session lasts. If the first process has ended, the answer is no.
  bool have(pid_t pid) {
    const pid_t session = ::getsid(pid);
    if (session <= 0) return false;
    const auto [known, is_new] = known_.try_emplace(session, false);
    if (is_new && self_) {
      const auto first = facts_of(session);
      known->second = first && first->started < self_->started;
    }
    return known->second;
  }

 private:
  std::optional<ProcessFacts> self_ = facts_of(::getpid());
  std::map<pid_t, bool> known_;
};

}  // namespace

CommandFamily::CommandFamily(pid_t group, pid_t session, std::vector<std::string> marks)
    : group_(group), session_(session), marks_(std::move(marks)) {}

void CommandFamily::look() { static_cast<void>(descendants()); }

std::vector<ProcessFacts> CommandFamily::descendants() {
  return seen_.find(
      {group_}, [this](const ProcessFacts& process) { return process.session == session_; },
      [](const ProcessFacts&) {});
}

std::vector<pid_t> CommandFamily::signal(int number, TimePoint, TimePoint until) {
  // Signals the group as one, because if we signalled its members one by one, one of them could fork meanwhile.
  if (group_is_ours()) ::kill(-group_, number);
  std::vector<pid_t> refused;
  // The others come after the group, because the search for them looks at all processes of the session, which may be
  // thousands.
  for (const pid_t pid : members({.until = until})) {
    // The members of the group have got the signal already; 0 only asks whether we may signal them.
    if (::kill(pid, is_in_group(pid) ? 0 : number) != 0 && errno == EPERM) refused.push_back(pid);
  }
  return refused;
}

std::vector<pid_t> CommandFamily::in_group() const {
  std::vector<pid_t> found;
  for (const pid_t pid : all_processes())
    if (is_in_group(pid) && is_alive(pid)) found.push_back(pid);
  return found;
}

bool CommandFamily::group_lives() const {
  // The cheap question comes first, because mostly the group is gone.
  if (!group_exists() || !group_is_ours()) return false;
  bool shown = false;
  for (const pid_t pid : all_processes()) {
    if (!is_in_group(pid)) continue;
    if (is_alive(pid)) return true;
    shown = true;
  }
  return !shown && group_exists();  // asked again, because the last zombie may have been reaped meanwhile
}

std::vector<pid_t> CommandFamily::all(TimePoint) { return members(kBeforeRelease); }

std::vector<pid_t> CommandFamily::members(const SearchLimit& limit) {
  std::vector<pid_t> found, others;
  const pid_t self = ::getpid();
  for (const pid_t pid : all_processes()) {
    if (has_passed(limit.until)) break;
    if (pid == self || ::getsid(pid) != session_) continue;
    if (!is_in_group(pid)) {
      others.push_back(pid);
    } else if (is_alive(pid)) {
      found.push_back(pid);
    }
  }
  FoundApart apart =
      find_apart(std::move(others), [this](pid_t pid) { return is_marked(pid) && is_alive(pid); }, limit);
  unanswered_ = std::move(apart.unanswered);
  std::ranges::copy(apart.found, std::back_inserter(found));
  return found;
}

/// The processes that may have the marks, in any session.
std::vector<pid_t> CommandFamily::candidates() const {
  std::vector<pid_t> candidates = all_processes();
  OlderSessions older;
  std::erase_if(candidates, [&](pid_t pid) {
    if (pid == ::getpid() || asked_.contains(pid) || ::getpgid(pid) <= 0)
      return true;  // 0: a thread of the kernel
    return ::getsid(pid) != session_ && older.have(pid);
  });
  return candidates;
}

std::vector<pid_t> CommandFamily::out_of_reach() {
  std::vector<pid_t> found;
  for (const ProcessFacts& process : descendants()) found.push_back(process.pid);
  // A process may start another one and end before it is asked about. So a search that has taken long is followed by one
  // for the processes that are new since then.
  for (bool is_new = false; !is_new;) {
    is_new = !search_;
    if (is_new) search_.emplace(candidates(), [this](pid_t pid) { return is_marked(pid) && is_alive(pid); });
    std::ranges::copy(search_->go_on(within(kOneTurn).until), std::back_inserter(found));
    unanswered_.assign(search_->unanswered().begin(), search_->unanswered().end());
    if (!unanswered_.empty()) break;
    if (is_new)
      asked_.clear();
    else
      asked_.insert(search_->candidates().begin(), search_->candidates().end());
    search_.reset();
  }
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

bool CommandFamily::surely_gone(TimePoint) {
  if (!sees_everybody() || group_lives() || !descendants().empty()) return false;
  // One look at each process, because there may be thousands; it also finds the processes of all().
  std::vector<pid_t> candidates = all_processes();
  std::erase_if(candidates, [](pid_t pid) { return pid == ::getpid() || ::getpgid(pid) <= 0; });
  const auto may_be_ours = [this](pid_t pid) {
    return (is_marked(pid) || hides_its_marks(pid)) && is_alive(pid);
  };
  const FoundApart apart = find_apart(std::move(candidates), may_be_ours, kBeforeRelease);
  return apart.found.empty() && apart.unanswered.empty();
}

/// Is it a process in our session whose environment we may not read, such as another user's?
bool CommandFamily::hides_its_marks(pid_t pid) const {
  if (::getsid(pid) != session_) return false;
  const std::string environment = "/proc/" + std::to_string(pid) + "/environ";
  return ::access(environment.c_str(), R_OK) != 0 && errno == EACCES;
}

/// Asks the kernel: zombies count, and EPERM means that there is a process.
bool CommandFamily::group_exists() const { return group_ > 1 && (::kill(-group_, 0) == 0 || errno != ESRCH); }

/// The group id may have been reused. A group lies in one session, so any member shows whose group it is:
/// the first process if it still exists, else one in /proc. If no member is found, the group counts as
/// ours.
bool CommandFamily::group_is_ours() const {
  if (group_ <= 1) return false;
  const pid_t session_of_first = ::getsid(group_);
  if (session_of_first >= 0) return session_of_first == session_;
  return std::ranges::none_of(
      all_processes(), [&](pid_t pid) { return ::getpgid(pid) == group_ && ::getsid(pid) != session_; });
}

bool CommandFamily::is_in_group(pid_t pid) const {
  // 0 is the group of a process outside our pid namespace.
  return group_ > 1 && ::getpgid(pid) == group_ && ::getsid(pid) == session_;
}

bool CommandFamily::is_marked(pid_t pid) const {
  if (marks_.empty()) return false;
  // Each entry ends with a zero byte. A nested run appends lines to RLOCK_STACK, so the mark may also be followed by
  // a newline.
  const std::string environment = '\0' + environment_of(pid);
  return std::ranges::all_of(marks_, [&](const std::string& mark) {
    const std::string entry = '\0' + mark;
    return environment.find(entry + '\0') != std::string::npos ||
           environment.find(entry + '\n') != std::string::npos;
  });
}

}  // namespace rlock
