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
#include <optional>
#include <utility>

#include "base/blocking.h"

namespace rlock {
namespace {

/// How often environment_of() looks at a process in execve(). Before the last look a SearchApart takes it for silent.
constexpr int kLooksAtExec = 1200;

/// How long one turn of a search takes: the same thread renews the lock.
constexpr Milliseconds kOneTurn{100};

/// A list of /proc may miss a process whose parent has ended meanwhile. Then another list is made, so many times at most.
constexpr int kMostLists = 20;

/// How long a search waits for one answer: before a release, and before a signal to the others.
constexpr Milliseconds kOneAnswer{500}, kOneAnswerAtSignal{50};

/// How long signal() waits for silent processes when all others have been asked, and how long it takes before KILL is sent again.
constexpr Milliseconds kSilentAtSignal{100}, kOneSweep{1000};

/// In microseconds.
constexpr useconds_t kBetweenLooks = 500;

bool is_alive(pid_t pid) {
  const auto facts = facts_of(pid);
  return facts && facts->alive();
}

/// May the process have adopted orphans? Those that do are the first process of a system or container, and its children, such as the
/// service manager of a user.
bool may_adopt(const ProcessFacts& process) { return process.parent <= 1; }

/// The environment of a process; empty if it is not shown to us. During execve() a process shows neither arguments nor
/// environment. Then this function looks again.
std::string environment_of(pid_t pid) {
  std::optional<std::string> environment = proc_text(pid, "environ");
  for (int i = 0; i < kLooksAtExec && environment && environment->empty(); ++i) {
    const auto facts = facts_of(pid);
    const bool ended = !facts || facts->state == 'Z' || facts->state == 'X';
    const bool is_over = ended || proc_text(pid, "cmdline") != "";
    environment = proc_text(pid, "environ");  // the execve() may have ended before the other two answers
    if (is_over) break;
    ::usleep(kBetweenLooks);
  }
  if (environment && !environment->empty()) return *environment;
  const auto facts = facts_of(pid);
  if (!facts || facts->state != 'Z') return "";
  for (const pid_t thread : threads_of(pid)) {  // the first thread has ended, and others may run
    environment = proc_text(pid, ("task/" + std::to_string(thread) + "/environ").c_str());
    if (environment && !environment->empty()) return *environment;
  }
  return "";
}

}  // namespace

CommandFamily::CommandFamily(pid_t group, pid_t session, std::vector<std::string> marks)
    : group_(group), session_(session), marks_(std::move(marks)) {}

void CommandFamily::look() { static_cast<void>(descendants()); }

std::vector<ProcessFacts> CommandFamily::descendants() {
  return seen_.find(
      {group_}, [this](const ProcessFacts& process) { return process.session == session_; },
      [this](const ProcessFacts& process) {
        if (process.pid == group_ && born_ == 0) born_ = process.started;
      },
      [this] { return marked_; });
}

std::vector<pid_t> CommandFamily::signal(int number, TimePoint, TimePoint until) {
  // Signals the group as one, because if we signalled its members one by one, one of them could fork meanwhile.
  if (group_is_ours()) ::kill(-group_, number);
  // The others come after the group, because the search for them looks at all processes of the session, which may be
  // thousands.
  std::vector<pid_t> members, others, last, refused;
  for (const pid_t pid : all_processes()) {
    if (has_passed(until)) break;
    if (pid == ::getpid() || ::getsid(pid) != session_) continue;
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
  SearchApart search{std::move(others), lives_with_marks(), kOneAnswerAtSignal};
  TimePoint ends = number == SIGKILL ? within(kOneSweep).until : until;
  for (std::size_t signalled = 0; !search.unanswered().empty() && !has_passed(ends);) {
    search.go_on(earliest(ends, within(kOneTurn).until));
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
  std::ranges::copy_if(marked_, std::back_inserter(found),
                       [&](pid_t pid) { return ::getsid(pid) == session_ && !is_in_group(pid); });
  return found;
}

std::vector<pid_t> CommandFamily::out_of_reach() {
  std::vector<pid_t> found =
      marked_;  // one that has ended meanwhile may have started another: the caller asks again
  for (const ProcessFacts& process : descendants()) found.push_back(process.pid);
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

/// Begins a search for the marks, or goes on with it. It has ended if it has found a process, or if all have answered and no
/// other has started meanwhile: a process may start another one and end before it is asked about.
void CommandFamily::search() {
  const TimePoint until = within(kOneTurn).until;
  marked_.clear();
  for (int lists = 0; marked_.empty(); search_.reset()) {
    if (!search_) {
      std::vector<pid_t> next = candidates();
      if (next.empty() && vanished_ && ++lists < kMostLists) continue;
      if (next.empty()) break;
      search_.emplace(std::move(next), lives_with_marks(), kOneAnswer);
    }
    search_->go_on(until);
    marked_ = search_->found();
    unanswered_.assign(search_->unanswered().begin(), search_->unanswered().end());
    const std::size_t open = unanswered_.size();
    if (search_->asked_all()) std::erase_if(unanswered_, [&](pid_t pid) { return is_stranger(pid); });
    doubtful_ = doubtful_ || unanswered_.size() < open;
    if (marked_.empty() && !unanswered_.empty()) return;
  }
  if (!marked_.empty()) look();  // remembers them
  search_.reset();
  unanswered_.clear();
  asked_.clear();
}

/// All processes that no search has asked about. After the first search of a row, a child of one that has answered "no" and lives
/// is no candidate: else the row would not end while somebody else starts processes.
std::vector<pid_t> CommandFamily::candidates() {
  if (const auto first = born_ == 0 ? facts_of(group_) : std::nullopt) born_ = first->started;
  const bool is_first = asked_.empty();
  if (is_first) doubtful_ = false;
  const auto has_answered = [&](pid_t pid) {
    const auto asked = asked_.find(pid);
    const auto facts = asked == asked_.end() ? std::nullopt : facts_of(pid);
    return facts && facts->alive() && facts->started == asked->second && !may_adopt(*facts);
  };
  vanished_ = false;
  std::vector<ProcessFacts> fresh, seen;
  for (const pid_t pid : all_processes()) {
    const auto facts = facts_of(pid);
    const auto asked = asked_.find(pid);
    if (facts && asked != asked_.end() && asked->second == facts->started) continue;
    if (!facts || !facts->alive())
      vanished_ = true;  // it may have started one that this list does not have
    else if (!facts->of_kernel && pid != ::getpid())
      fresh.push_back(*facts);
    if (facts) seen.push_back(*facts);
  }
  std::vector<pid_t> found;
  for (const ProcessFacts& process : fresh)
    if (is_first || !has_answered(process.parent)) found.push_back(process.pid);
  for (const ProcessFacts& process : seen)
    asked_[process.pid] = process.started;  // only now: a parent may be fresh, too
  return found;
}

/// Does the process hardly belong to the command, so that a release does not wait for its answer? It or its session is older than
/// the command, or it descends from an older process that has not adopted it.
bool CommandFamily::is_stranger(pid_t pid) const {
  auto facts = facts_of(pid);
  if (!facts || facts->started < born_) return true;
  // No other process gets the number of a session's first process while the session lasts.
  const auto first =
      facts->session > 0 && facts->session != session_ ? facts_of(facts->session) : std::nullopt;
  if (first && first->started < born_) return true;
  for (int above = 0; facts && facts->started >= born_ && above < kDeepestAncestry; ++above)
    facts = facts_of(facts->parent);
  return facts && facts->started < born_ && !may_adopt(*facts) && facts->pid != ::getpid();
}

/// The question which processes live and have the marks.
std::function<bool(pid_t)> CommandFamily::lives_with_marks() const {
  return [this](pid_t pid) { return is_marked(pid) && is_alive(pid); };
}

bool CommandFamily::surely_gone(TimePoint) {
  search();  // first: the rest is quick, so that its answers are not old
  if (!marked_.empty() || !unanswered_.empty() || doubtful_) return false;
  if (!sees_everybody() || group_lives() || !descendants().empty()) return false;
  const pid_t self = ::getpid();
  return std::ranges::none_of(
      all_processes(), [&](pid_t pid) { return pid != self && hides_its_marks(pid) && is_alive(pid); });
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
