// Finds the processes to stop. It reads /proc each time, because processes fork and end at any moment. For
// a command: its group, which is signalled as one, and the processes that have left it (timeout, set -m),
// which are found in /proc by the marks in their environment. For a script: its descendants, and the
// members of the group or session that it leads.
//
// A number may have a new owner by the time we use it. So a process of a command counts only if it is in our
// session, and one of a script only by the time when it was started; a guardian may wake up after days.
//
// Only a script's processes are frozen. kill(-group) is atomic: the kernel lets no member fork while the
// signal is on its way. A marked process passes its mark on to its children, so the next look finds them
// even if their parent has ended. But a descendant is known only by its parent: if the parent ends before a
// look, the child cannot be found. So the script is stopped first, then each of its processes, from the
// top; a stopped process cannot fork. If a look finds all of them stopped, none is missing.
//
// The freeze is visible: the shell that started the script may say "Stopped", and sudo, su and a `rlock
// run` in the foreground stop, too, when their child does. They would wait for ever to be continued, so
// wake_ancestors() continues them. Inside the family parents are continued last, so they do not notice. A
// job of an interactive shell leads its process group, so orphans are found by the group: rlock freezes
// such a script only before KILL.
//
// If /proc shows nothing (a chroot, another pid namespace), only the kernel's answer about the whole group
// is left: it exists, or it does not. If it exists, it counts as alive: to wait in vain is better than to
// release a lock while the command runs.

#include "loop/family.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <ranges>
#include <unordered_set>
#include <utility>

#include "loop/find_apart.h"

namespace rlock {
namespace {

/// How long a freeze may go on looking for new processes. A script may fork faster than we look: the deadline
/// rules then, and the next round gets the rest.
constexpr Milliseconds kFreezeToKill{30};
constexpr Milliseconds kFreeze{200};

/// If the script has not ended after this time, it handles the signal itself.
constexpr Milliseconds kSignalEndsIt{100};

/// When rlock continues an ancestor that has stopped because the script did: not before the ancestor had
/// time to stop, and not so late that a person may have stopped it.
constexpr Milliseconds kStopsToo{100};
constexpr Milliseconds kStopIsNotOurs{3000};

/// execve() takes less than that.
constexpr int kLooksAtExec = 5;

/// In microseconds. The pause lets the processes that we look at get on.
constexpr useconds_t kBetweenLooks = 500;

/// A chain of parents that was read while it changed could lead in a circle.
constexpr std::size_t kDeepest = 256;

bool is_alive(pid_t pid) {
  const auto facts = facts_of(pid);
  return facts && facts->alive();
}

/// In the middle of execve() a process shows neither arguments nor environment: then it is looked at again.
std::string environment_of(pid_t pid) {
  std::string environment = proc_text(pid, "environ");
  for (int i = 0; i < kLooksAtExec && environment.empty(); ++i) {
    if (!proc_text(pid, "cmdline").empty() || !is_alive(pid)) break;
    ::usleep(kBetweenLooks);
    environment = proc_text(pid, "environ");
  }
  return environment;
}

std::vector<ProcessFacts> ancestors_of(const ProcessFacts& process) {
  std::vector<ProcessFacts> ancestors;
  pid_t parent = process.parent;
  while (parent > 1 && ancestors.size() < kDeepest) {
    const auto facts = facts_of(parent);
    if (!facts) break;
    ancestors.push_back(*facts);
    parent = facts->parent;
  }
  return ancestors;
}

std::vector<pid_t> numbers_of(const std::vector<ProcessFacts>& processes) {
  std::vector<pid_t> numbers;
  numbers.reserve(processes.size());
  for (const ProcessFacts& process : processes) numbers.push_back(process.pid);
  return numbers;
}

void only_look(const ProcessFacts&) {}

}  // namespace

Family::Family(pid_t group, pid_t session, std::vector<std::string> marks)
    : group_(group), session_(session), marks_(std::move(marks)) {}

Family Family::of_script(const ProcessId& script, pid_t keeper, std::vector<std::string> marks) {
  Family family{0, 0, std::move(marks)};
  family.script_ = {.pid = script.pid, .state = 'X', .started = script.started};
  const auto facts = facts_of(script.pid);
  if (facts && family.is_script(*facts)) family.script_ = *facts;
  family.keeper_ = keeper;
  family.ancestors_ = ancestors_of(family.script_);
  family.look();
  if (has_random_addresses(script.pid)) family.stack_ = stack_of(script.pid);
  // A subshell has the same stack address as its parent and siblings, so the address would not tell them
  // apart.
  if (!family.copies_of_script().empty()) family.stack_ = 0;
  return family;
}

void Family::look() { descendants(only_look); }

std::vector<pid_t> Family::signal(int number, TimePoint until) {
  if (script_.pid != 0) return signal_script(number);
  // Signals the group as one: if we signalled its members one by one, one of them could fork meanwhile.
  if (group_is_ours()) ::kill(-group_, number);
  std::vector<pid_t> refused;
  for (const pid_t pid : all(until)) {
    // The members of the group have it already; 0 only asks whether we may signal them.
    if (::kill(pid, is_in_group(pid) ? 0 : number) != 0 && errno == EPERM) refused.push_back(pid);
  }
  return refused;
}

std::vector<pid_t> Family::in_group() const {
  std::vector<pid_t> found;
  for (const pid_t pid : all_processes())
    if (is_in_group(pid) && is_alive(pid)) found.push_back(pid);
  return found;
}

bool Family::group_lives() const {
  if (!group_exists() || !group_is_ours()) return false;  // the cheap question first: mostly it is gone
  bool shown = false;
  for (const pid_t pid : all_processes()) {
    if (!is_in_group(pid)) continue;
    if (is_alive(pid)) return true;
    shown = true;
  }
  return !shown && group_exists();  // again, since the last zombie may have been reaped meanwhile
}

bool Family::script_lives() const {
  if (!proc_shows_us()) return ::kill(script_.pid, 0) == 0 || errno == EPERM;
  const auto facts = facts_of(script_.pid);
  return facts && facts->alive() && is_script(*facts);
}

std::vector<pid_t> Family::all(TimePoint until) {
  if (script_.pid != 0) {
    wake_ancestors();
    return numbers_of(members_of_script(only_look));
  }
  std::vector<pid_t> found, others;
  const pid_t self = ::getpid();
  for (const pid_t pid : all_processes()) {
    if (Clock::now() >= until) break;
    if (pid == self || ::getsid(pid) != session_) continue;
    if (!is_in_group(pid)) {
      others.push_back(pid);
    } else if (is_alive(pid)) {
      found.push_back(pid);
    }
  }
  const auto belongs = [this](pid_t pid) { return is_marked(pid) && is_alive(pid); };
  if (until != kNever) {
    for (const pid_t pid : find_apart(std::move(others), belongs, until)) found.push_back(pid);
  } else {
    std::ranges::copy_if(others, std::back_inserter(found), belongs);
  }
  return found;
}

bool Family::surely_gone() {
  if (!sees_everybody()) return false;
  if (frozen_ && Clock::now() < plus(*frozen_, kStopsToo)) return false;  // all() must still wake ancestors
  if (group_lives() || !descendants(only_look).empty()) return false;
  if (script_.pid != 0 && !all().empty()) return false;
  // One look at each process, since there may be thousands: it also finds the processes of a command that
  // all() finds.
  const pid_t self = ::getpid();
  return std::ranges::none_of(all_processes(), [&](pid_t pid) {
    if (pid == self || pid == keeper_ || ::getpgid(pid) <= 0) return false;  // 0: a part of the kernel
    if ((is_marked(pid) || hides_its_marks(pid)) && is_alive(pid)) return true;
    if (script_.pid == 0 || ::getsid(pid) != script_.session) return false;
    const auto facts = facts_of(pid);
    return facts && facts->alive() && may_be_an_orphan_of_script(*facts);
  });
}

/// A process in the session of a command whose environment we may not read: it is another user's.
bool Family::hides_its_marks(pid_t pid) const {
  if (script_.pid != 0 || ::getsid(pid) != session_) return false;
  const std::string environment = "/proc/" + std::to_string(pid) + "/environ";
  return ::access(environment.c_str(), R_OK) != 0 && errno == EACCES;
}

/// Asks the kernel: zombies count, and EPERM means that there is a process.
bool Family::group_exists() const { return group_ > 1 && (::kill(-group_, 0) == 0 || errno != ESRCH); }

/// The group id may have been reused. A group lies in one session, so any member shows whose group it is:
/// the first process if it still exists, else one in /proc. If no member is found, the group counts as
/// ours.
bool Family::group_is_ours() const {
  if (group_ <= 1) return false;
  const pid_t session_of_first = ::getsid(group_);
  if (session_of_first >= 0) return session_of_first == session_;
  return std::ranges::none_of(
      all_processes(), [&](pid_t pid) { return ::getpgid(pid) == group_ && ::getsid(pid) != session_; });
}

bool Family::is_in_group(pid_t pid) const {
  // 0 is the group of a process outside our pid namespace.
  return group_ > 1 && ::getpgid(pid) == group_ && ::getsid(pid) == session_;
}

bool Family::is_marked(pid_t pid) const {
  if (marks_.empty()) return false;
  // Each entry ends with a zero byte. A run inside this one appends lines to RLOCK_STACK: hence the newline.
  const std::string environment = '\0' + environment_of(pid);
  return std::ranges::all_of(marks_, [&](const std::string& mark) {
    const std::string entry = '\0' + mark;
    return environment.find(entry + '\0') != std::string::npos ||
           environment.find(entry + '\n') != std::string::npos;
  });
}

bool Family::is_script(const ProcessFacts& process) const {
  return process.pid == script_.pid && process.started == script_.started;
}

/// The descendants of the command or the script, and the processes that a look has seen as descendants.
std::vector<ProcessFacts> Family::descendants(const Visit& visit) {
  return with_descendants({script_.pid != 0 ? script_.pid : group_}, visit);
}

/// The descendants, and the members of the group or session that the script leads.
std::vector<ProcessFacts> Family::members_of_script(const Visit& visit) {
  std::vector<pid_t> roots{script_.pid};
  const bool leads_session = script_.session == script_.pid, leads_group = script_.group == script_.pid;
  if (leads_session || leads_group)
    for (const pid_t pid : all_processes())
      if ((leads_session ? ::getsid(pid) : ::getpgid(pid)) == script_.pid) roots.push_back(pid);
  return with_descendants(roots, visit, true);
}

/// Processes that the script forked and that no look has seen: they are in its group and run its program,
/// but their parents have ended between two looks (a fork bomb). A smaller pid is older than the script, so
/// it is skipped without reading a file.
std::vector<pid_t> Family::copies_of_script() const {
  std::vector<pid_t> copies;
  if (stack_ == 0) return copies;
  for (const pid_t pid : all_processes()) {
    const bool beside =
        pid > script_.pid && ::getpgid(pid) == script_.group && ::getsid(pid) == script_.session;
    if (beside && !seen_.contains(pid) && stack_of(pid) == stack_) copies.push_back(pid);
  }
  return copies;
}

/// The processes of `roots` that belong to us, those that were seen, and all that they have started.
std::vector<ProcessFacts> Family::with_descendants(const std::vector<pid_t>& roots, const Visit& visit,
                                                   bool with_copies) {
  std::vector<ProcessFacts> found;
  std::unordered_set<pid_t> known{keeper_, ::getpid()};
  const auto add = [&](pid_t pid, const auto& belongs) {
    if (known.contains(pid)) return;
    const auto facts = facts_of(pid);
    if (!facts || !facts->alive() || !belongs(*facts)) return;
    known.insert(pid);
    visit(*facts);
    found.push_back(*facts);
  };
  for (const pid_t root : roots)
    add(root, [&](const ProcessFacts& process) {
      if (script_.pid == 0) return process.session == session_;
      return is_script(process) || is_led_by_script(process);
    });
  if (!found.empty() && is_script(found.front())) script_ = found.front();  // it may have changed its group
  for (const auto& [pid, started] : seen_)
    add(pid, [since = started](const ProcessFacts& process) { return process.started == since; });
  Parentage parentage;
  const auto whoever = [](const ProcessFacts&) { return true; };
  std::size_t next = 0;
  const auto add_children = [&] {
    for (; next < found.size(); ++next)
      for (const pid_t child : parentage.children_of(ProcessFacts{found[next]})) add(child, whoever);
  };
  add_children();
  if (with_copies)
    for (const pid_t copy : copies_of_script()) add(copy, whoever);
  add_children();
  seen_.clear();
  for (const ProcessFacts& process : found) seen_.emplace(process.pid, process.started);
  return found;
}

/// Is it a member of the script's session, or an adopted one of its group? The children of a member come
/// with it. A child of the script's own parent does not count: the shell of `script | tee log` puts both
/// into one group.
bool Family::is_led_by_script(const ProcessFacts& process) const {
  if (process.session != script_.session) return false;
  if (script_.session == script_.pid) return true;
  if (script_.group != script_.pid || process.group != script_.group) return false;
  if (::getpgid(process.parent) == script_.group) return false;
  const bool by_parent = process.parent == script_.parent && process.parent > 1;
  return !by_parent || ::getsid(process.parent) != script_.session;
}

/// Is it a member of the script's group that was started after the script, with a parent outside the group?
/// It may be the script's orphan, or that of a stranger in the same group.
bool Family::may_be_an_orphan_of_script(const ProcessFacts& process) const {
  if (process.session != script_.session || process.group != script_.group) return false;
  if (process.pid == process.group || process.started < script_.started) return false;
  if (std::ranges::any_of(ancestors_, [&](const ProcessFacts& one) { return one.pid == process.pid; }))
    return false;
  return ::getpgid(process.parent) != script_.group;
}

std::vector<pid_t> Family::signal_script(int number) {
  std::vector<pid_t> refused;
  wake_ancestors();
  if (!proc_shows_us()) {
    if (::kill(script_.pid, number) != 0 && errno == EPERM) refused.push_back(script_.pid);
    return refused;
  }
  if (number == SIGCONT) {
    for (const ProcessFacts& process : members_of_script(only_look) | std::views::reverse)
      if (::kill(process.pid, SIGCONT) != 0 && errno == EPERM) refused.push_back(process.pid);
    return refused;
  }
  if (number != SIGKILL && stays_together()) return signal_as_found(number);
  const std::vector<ProcessFacts> frozen = freeze(number, refused);
  for (const ProcessFacts& process : frozen | std::views::reverse) ::kill(process.pid, number);
  if (number == SIGKILL) return refused;
  for (const ProcessFacts& process : frozen | std::views::reverse)
    if (!process.stopped()) ::kill(process.pid, SIGCONT);
  return refused;
}

/// Would a look find every process that the script may have started, even if the script has ended?
bool Family::stays_together() {
  const std::vector<ProcessFacts> members = descendants(only_look);
  if (script_.session == script_.pid) return true;
  if (script_.group != script_.pid) return false;
  return std::ranges::none_of(members, [&](const ProcessFacts& member) {
    return member.session == script_.session && member.group != script_.group;
  });
}

/// Signals each process once, until a look finds no new one. The script gets some time to end first: bash
/// blocks signals while it forks, so one more child may come after the signal.
std::vector<pid_t> Family::signal_as_found(int number) {
  const TimePoint now = Clock::now();
  const TimePoint ends = plus(now, kSignalEndsIt), until = plus(now, kFreeze);
  std::vector<pid_t> refused;
  std::unordered_set<pid_t> told;
  bool settled = false;
  while (!settled && Clock::now() < until) {
    settled = Clock::now() >= ends || !script_lives();  // as it was before this look
    for (const ProcessFacts& process : members_of_script(only_look)) {
      if (!told.insert(process.pid).second) continue;
      settled = false;
      if (::kill(process.pid, number) != 0 && errno == EPERM) refused.push_back(process.pid);
    }
    if (!settled) ::usleep(kBetweenLooks);
  }
  return refused;
}

/// Stops all of them, from the top. Returns their state before.
std::vector<ProcessFacts> Family::freeze(int for_signal, std::vector<pid_t>& refused) {
  const TimePoint now = Clock::now();
  const TimePoint until = plus(now, for_signal == SIGKILL ? kFreezeToKill : kFreeze);
  if (!frozen_ || now >= plus(*frozen_, kStopIsNotOurs)) ancestors_ = ancestors_of(script_);
  std::vector<ProcessFacts> frozen;
  std::unordered_set<pid_t> known, beyond_us;
  bool settled = false;
  const auto stop = [&](const ProcessFacts& process) {
    if (known.insert(process.pid).second) {
      frozen.push_back(process);
      if (::kill(process.pid, SIGSTOP) != 0 && errno == EPERM) beyond_us.insert(process.pid);
    }
    // A process must be stopped before its children are read: a fork that had begun when the signal came
    // goes on.
    settled = settled && (process.stopped() || beyond_us.contains(process.pid));
  };
  descendants(stop);  // the script itself before any other process
  for (;;) {
    settled = true;
    members_of_script(stop);
    if (settled || Clock::now() >= until) break;
    ::usleep(kBetweenLooks);
  }
  refused.assign(beyond_us.begin(), beyond_us.end());
  if (!frozen.empty()) frozen_ = Clock::now();
  return frozen;
}

/// Continues the ancestors of the script that have stopped since it was frozen.
void Family::wake_ancestors() {
  if (!frozen_) return;
  const TimePoint now = Clock::now();
  if (now < plus(*frozen_, kStopsToo) || now >= plus(*frozen_, kStopIsNotOurs)) return;
  for (const ProcessFacts& before : ancestors_) {
    if (before.stopped() || before.group <= 1) continue;
    const auto facts = facts_of(before.pid);
    if (facts && facts->started == before.started && facts->state == 'T') ::kill(-facts->group, SIGCONT);
  }
}

}  // namespace rlock
