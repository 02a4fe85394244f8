// The group is signalled as one: kill(-group) is atomic, and the kernel lets no member fork while the signal
// is on its way. The processes that have left it (timeout, set -m) are found in /proc by the marks in their
// environment.
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
#include <optional>
#include <utility>

#include "base/blocking.h"
#include "family/search_apart.h"

namespace rlock {
namespace {

/// How often signal() interrupts its search to signal what it has found, and how long it waits for one answer.
constexpr Milliseconds kSignalEvery{100}, kOneAnswerAtSignal{50};

/// How long signal() waits for silent processes when all others have been asked, and how long it takes before KILL is sent again.
constexpr Milliseconds kSilentAtSignal{100}, kOneSweep{1000};

}  // namespace

CommandFamily::CommandFamily(pid_t group, pid_t session, std::vector<std::string> marks)
    : group_(group), command_{.session = session}, search_(Marks{std::move(marks)}) {}

void CommandFamily::look() { static_cast<void>(descendants()); }

std::vector<ProcessFacts> CommandFamily::descendants() {
  return seen_.find(
      {group_}, [this](const ProcessFacts& process) { return process.session == command_.session; },
      [this](const ProcessFacts& process) {
        if (process.pid == group_) learn(process);
      },
      [this] { return search_.found(); });
}

std::vector<pid_t> CommandFamily::signal(int number, TimePoint, TimePoint until) {
  // Signals the group as one, because if we signalled its members one by one, one of them could fork meanwhile.
  if (group_is_ours()) ::kill(-group_, number);
  // The others come after the group, because the search for them looks at all processes of the session, which may be
  // thousands.
  std::vector<pid_t> members, others, last, refused;
  for (const pid_t pid : all_processes()) {
    if (has_passed(until)) break;
    if (pid == ::getpid() || ::getsid(pid) != command_.session) continue;
    if (is_in_group(pid)) {
      members.push_back(pid);
    } else {
      (std::ranges::count(silent_, pid) == 0 ? others : last).push_back(pid);
    }
  }
  others.insert(others.end(), last.begin(), last.end());
  // The members of the group have got the signal already; 0 only asks whether we may signal them.
  for (const pid_t pid : members)
    if (::kill(pid, 0) != 0 && errno == EPERM && is_alive(pid)) refused.push_back(pid);
  SearchApart search{std::move(others), [this](pid_t pid) { return search_.marks().on_living(pid); },
                     kOneAnswerAtSignal};
  TimePoint ends = number == SIGKILL ? within(kOneSweep).until : until;
  for (std::size_t signalled = 0; !search.unanswered().empty() && !has_passed(ends);) {
    search.go_on(earliest(ends, within(kSignalEvery).until));
    for (; signalled < search.found().size(); ++signalled)
      if (const pid_t pid = search.found()[signalled]; ::kill(pid, number) != 0 && errno == EPERM)
        refused.push_back(pid);
    if (search.asked_all()) ends = earliest(ends, within(kSilentAtSignal).until);
  }
  silent_.assign(search.silent().begin(), search.silent().end());
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

std::vector<pid_t> CommandFamily::all(TimePoint) {
  std::vector<pid_t> found = in_group();
  search();
  std::ranges::copy_if(search_.found(), std::back_inserter(found),
                       [&](pid_t pid) { return ::getsid(pid) == command_.session && !is_in_group(pid); });
  return found;
}

std::vector<pid_t> CommandFamily::out_of_reach() {
  std::vector<pid_t> found =
      search_.found();  // one that has ended meanwhile may have started another: the caller asks again
  for (const ProcessFacts& process : descendants()) found.push_back(process.pid);
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

void CommandFamily::learn(const ProcessFacts& first) {
  if (command_.born == 0) command_ = {command_.session, first.started, first.parent};
}

void CommandFamily::search() {
  if (const auto first = command_.born == 0 ? facts_of(group_) : std::nullopt) learn(*first);
  search_.go_on(command_);
  if (!search_.found().empty()) look();  // remembers them
}

bool CommandFamily::surely_gone(TimePoint) {
  search();  // first: the rest is quick, so that its answers are not old
  if (!search_.found().empty() || !search_.unanswered().empty() || search_.doubtful()) return false;
  if (!sees_everybody() || group_lives() || !descendants().empty()) return false;
  const pid_t self = ::getpid();
  return std::ranges::none_of(
      all_processes(), [&](pid_t pid) { return pid != self && hides_its_marks(pid) && is_alive(pid); });
}

/// Is it a process in our session whose environment we may not read, such as another user's?
bool CommandFamily::hides_its_marks(pid_t pid) const {
  if (::getsid(pid) != command_.session) return false;
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
  if (session_of_first >= 0) return session_of_first == command_.session;
  return std::ranges::none_of(all_processes(), [&](pid_t pid) {
    return ::getpgid(pid) == group_ && ::getsid(pid) != command_.session;
  });
}

bool CommandFamily::is_in_group(pid_t pid) const {
  // 0 is the group of a process outside our pid namespace.
  return group_ > 1 && ::getpgid(pid) == group_ && ::getsid(pid) == command_.session;
}

}  // namespace rlock
