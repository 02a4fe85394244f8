// A script may start processes faster than we look. So KILL takes these steps (signal_frozen()):
//
//   kill_tagged()     stops the processes with the script's tag, pass by pass, and kills them. It comes first because it
//                     reads no file of a process.
//   freeze()          stops the others, each as soon as a pass finds it. A stopped process cannot fork, and still counts
//                     against its user's limit of processes. If a pass finds all of them stopped, none is missing.
//   send_each()       kills those, children first.
//   wake_ancestors()  comes with later calls: see below.
//
// Other signals are sent to each process as it is found. A script that has neither a tag nor a session or group of its
// own is the exception. When such a script ends, we lose a process that it has just started. So its processes are
// frozen for that signal, too. (A job of an interactive shell has a group of its own.)
//
// The freeze is visible: the shell that started the script may say "Stopped". sudo, su and a `rlock run` in the
// foreground stop when their child does, and would wait for ever to be continued. So wake_ancestors() continues
// them. Inside the family parents are continued last, so they do not notice.

#include "family/script_family.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ranges>
#include <unordered_set>

#include "base/ancestry.h"
#include "base/blocking.h"

namespace rlock {
namespace {

/// How long a freeze looks for new processes: before KILL, and before another signal. If a script forks faster
/// than we look, the freeze ends at this time, and the next round gets the rest.
constexpr Milliseconds kFreezeToKill{30};
constexpr Milliseconds kFreeze{200};

/// If the script has not ended after this time, it handles the signal itself.
constexpr Milliseconds kSignalEndsIt{100};

/// When rlock continues an ancestor that has stopped because the script did. Before kStopsToo the ancestor may
/// not have stopped yet. After kStopIsNotOurs a person may have stopped it.
constexpr Milliseconds kStopsToo{100};
constexpr Milliseconds kStopIsNotOurs{3000};

/// In microseconds. The pause gives the observed processes time to run.
constexpr useconds_t kBetweenSearches = 500;

/// How often all() looks again if it has seen only processes that ended meanwhile, because they may have started
/// others.
constexpr int kLooksAtNewest = 5;

std::vector<ProcessFacts> ancestors_of(const ProcessFacts& process) {
  std::vector<ProcessFacts> ancestors;
  pid_t parent = process.parent;
  while (parent > 1 && ancestors.size() < kDeepestAncestry) {
    const auto facts = facts_of(parent);
    if (!facts) break;
    ancestors.push_back(*facts);
    parent = facts->parent;
  }
  return ancestors;
}

/// Sends the signal. Returns false if we may not.
bool send(int number, pid_t pid) { return ::kill(pid, number) == 0 || errno != EPERM; }

/// Signals these processes, children first. Returns those that we may not signal.
std::vector<pid_t> send_each(int number, const std::vector<ProcessFacts>& processes) {
  std::vector<pid_t> refused;
  for (const ProcessFacts& process : processes | std::views::reverse)
    if (!send(number, process.pid)) refused.push_back(process.pid);
  return refused;
}

}  // namespace

ScriptFamily::ScriptFamily(const ProcessId& script, pid_t keeper)
    : members_(script, keeper), ancestors_(ancestors_of(members_.script())) {}

void ScriptFamily::look() { static_cast<void>(members_.tag_descendants()); }

std::vector<pid_t> ScriptFamily::all(TimePoint now) {
  wake_ancestors(now);
  std::vector<pid_t> numbers;
  for (int look = 0; look < kLooksAtNewest; ++look) {
    for (const ProcessFacts& process : members_.all()) numbers.push_back(process.pid);
    if (!numbers.empty() || members_.vanished() == 0) return numbers;
  }
  return {members_.vanished()};
}

bool ScriptFamily::surely_gone(TimePoint now) {
  if (!sees_everybody()) return false;
  if (frozen_ && now < plus(*frozen_, kStopsToo)) return false;  // all() must still wake ancestors
  return all(now).empty() && !members_.may_have_orphans(ancestors_);
}

std::vector<pid_t> ScriptFamily::signal(int number, TimePoint now, TimePoint until) {
  wake_ancestors(now);
  if (!proc_shows_us()) return send_each(number, {members_.script()});
  if (number == SIGCONT) return send_each(SIGCONT, members_.all());
  if (number != SIGKILL && members_.stays_together()) return signal_as_found(number, until);
  return signal_frozen(number, now);
}

/// Signals each process once. It ends when a look finds no new one, after kFreeze, or at `until`, when KILL is due.
/// Before the last look the script has some time to end. bash blocks signals while it forks, so one more child may
/// come after the signal. The tagged processes come first, because there may be thousands, and no file has to be read
/// for them.
std::vector<pid_t> ScriptFamily::signal_as_found(int number, TimePoint until) {
  const TimePoint ends = within(kSignalEndsIt).until, over = earliest(until, within(kFreeze).until);
  std::unordered_set<pid_t> signalled;
  std::vector<pid_t> refused;
  bool settled = false;
  const auto signal_once = [&](pid_t pid) {
    if (!signalled.insert(pid).second) return;
    settled = false;
    if (!send(number, pid)) refused.push_back(pid);
  };
  do {
    settled = has_passed(ends) || !script_lives();  // as it was before this look
    if (members_.is_tagged())
      std::ranges::for_each(members_.tagged(ScriptMembers::OnTag::runs_on), signal_once);
    // The search ends before the first of these gets the signal: the signal may end it, and its children would have
    // lost their parent.
    for (const ProcessFacts& process : members_.all({}, ScriptMembers::OnTag::runs_on, until))
      signal_once(process.pid);
    until = over;  // the first look could go on until KILL is due
    if (!settled) ::usleep(kBetweenSearches);
  } while (!settled && !has_passed(over));
  return refused;
}

/// The steps at the top of this file. After another signal than KILL, the survivors run again.
std::vector<pid_t> ScriptFamily::signal_frozen(int number, TimePoint now) {
  const bool kills = number == SIGKILL;
  if (!frozen_ || now >= plus(*frozen_, kStopIsNotOurs)) ancestors_ = ancestors_of(members_.script());
  if (kills && members_.is_tagged()) kill_tagged();
  Frozen frozen = freeze(within(kills ? kFreezeToKill : kFreeze).until);
  send_each(number, frozen.processes);
  if (!kills) {
    std::erase_if(frozen.processes, [](const ProcessFacts& process) { return process.stopped(); });
    send_each(SIGCONT, frozen.processes);
  }
  return std::move(frozen.refused);
}

/// Kills the tagged processes at once. A script may have thousands of processes, and to read the files of each
/// of them would take longer than the time that is left. So they are stopped first, until a pass finds no new
/// one, and no file is read. A process that was killed ends only when it gets a processor, so it gets our priority.
void ScriptFamily::kill_tagged() {
  const TimePoint until = within(kFreezeToKill).until;
  std::unordered_set<pid_t> stopped;
  std::size_t before = 0;
  do {
    before = stopped.size();
    for (const pid_t pid : members_.tagged(ScriptMembers::OnTag::gets_stop)) stopped.insert(pid);
  } while (stopped.size() > before && !has_passed(until));
  const int ours = ::getpriority(PRIO_PROCESS, 0);
  for (const pid_t pid : stopped) {
    if (!members_.carries_tag(pid)) continue;
    if (ours < 0) ::setpriority(PRIO_PROCESS, static_cast<id_t>(pid), ours);
    ::kill(pid, SIGKILL);
  }
}

/// Stops all members, from the top, until a pass finds all of them stopped, or until `until`.
ScriptFamily::Frozen ScriptFamily::freeze(TimePoint until) {
  Frozen frozen;
  std::unordered_set<pid_t> known, beyond_us;
  bool settled = false;
  const auto stop = [&](const ProcessFacts& process) {
    if (known.insert(process.pid).second) {
      frozen.processes.push_back(process);
      if (!send(SIGSTOP, process.pid)) beyond_us.insert(process.pid);
    }
    // A process must be stopped before its children are read, because a fork that has begun goes on after the signal.
    settled = settled && (process.stopped() || beyond_us.contains(process.pid));
  };
  members_.descendants(stop);  // the script itself before any other process
  for (;; ::usleep(kBetweenSearches)) {
    settled = true;
    members_.all(stop, ScriptMembers::OnTag::gets_stop);
    if ((settled && members_.vanished() == 0) || has_passed(until)) break;
  }
  frozen.refused.assign(beyond_us.begin(), beyond_us.end());
  if (!frozen.processes.empty()) frozen_ = Clock::now();  // not `now`: the freeze has taken a while
  return frozen;
}

/// Continues the ancestors of the script that have stopped since it was frozen.
void ScriptFamily::wake_ancestors(TimePoint now) const {
  if (!frozen_) return;
  if (now < plus(*frozen_, kStopsToo) || now >= plus(*frozen_, kStopIsNotOurs)) return;
  for (const ProcessFacts& before : ancestors_) {
    if (before.stopped() || before.group <= 1) continue;
    const auto facts = facts_of(before.pid);
    if (facts && facts->started == before.started && facts->state == 'T') ::kill(-facts->group, SIGCONT);
  }
}

}  // namespace rlock
