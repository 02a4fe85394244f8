// A descendant is known by its parent only as long as the parent lives, and a script may start processes faster
// than we look. So the script and all that it starts carry a tag, which the kernel passes on (script_tag.h):
// one pass over /proc finds all of them. Some processes had lost their parent before the script was tagged. They
// are found by the memory of earlier searches (Descendants), or by the group or session that the script leads.
// If a script cannot be tagged, these and the tree of children find all its processes.

#include "family/script_members.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "process/processes.h"

namespace rlock {
namespace {

/// At most this many passes tag the descendants. They end with a pass that finds none without a tag. A pass
/// misses only children of processes that it did not know, so each pass leaves fewer.
constexpr int kPassesToTag = 20;

/// kNewest numbers below and above that of the newest process are checked for the script's tag, kAsksAboutNewest
/// times. In all this takes less than a millisecond.
constexpr int kNewest = 32;
constexpr int kAsksAboutNewest = 20;

ProcessId id_of(const ProcessFacts& process) { return {process.pid, process.started}; }

/// Is its real user ours? The owner of /proc/PID does not tell: a set-user-ID program that another user has started has
/// our effective user.
bool is_of_our_user(pid_t pid) {
  constexpr std::string_view kLine = "\nUid:\t";
  const std::string status = proc_text(pid, "status").value_or("");
  const std::size_t at = status.find(kLine);
  return at != status.npos && std::strtoul(status.c_str() + at + kLine.size(), nullptr, 10) == ::getuid();
}

}  // namespace

ScriptMembers::ScriptMembers(const ProcessId& script, pid_t keeper)
    : script_{.pid = script.pid, .state = 'X', .started = script.started},
      keeper_(keeper),
      scripts_{number_of(script)},
      seen_(keeper) {
  const auto facts = facts_of(script.pid);
  if (facts && is_script(*facts)) script_ = *facts;
  if (script_lives()) {
    tag_before_ = tag_on(script_.pid);
    tag_ = tag_of(script, tag_before_);
    is_tagged_ = put_tag(script_.pid, tag_);
  }
  for (int pass = 0; pass < kPassesToTag && tag_descendants(); ++pass) {}
}

/// Processes that are older than the tag carry none, or that of an outer script. An inner script with a keeper keeps
/// its own tag, and so do its processes.
bool ScriptMembers::tag_descendants() {
  bool tagged_one = false;
  for (const ProcessFacts& process : descendants()) {
    const ScriptTag tag = tag_on(process.pid);
    // The keeper of the outer script began at the same moment, and has put its own tag over ours.
    const bool overwritten = is_script(process) && tag != 0 && script_in(tag) != script_in(tag_);
    if (is_tagged_ && overwritten) tag_ = tag_of(id_of(process), tag_before_ = tag);
    const bool is_older = tag != tag_ && (tag == 0 || tag == tag_before_);
    if (is_tagged_ && is_older && put_tag(process.pid, tag_)) tagged_one = true;
  }
  return tagged_one;
}

bool ScriptMembers::script_lives() const {
  if (!proc_shows_us()) return ::kill(script_.pid, 0) == 0 || errno == EPERM;
  const auto facts = facts_of(script_.pid);
  return facts && facts->alive() && is_script(*facts);
}

std::vector<ProcessFacts> ScriptMembers::descendants(const Visit& visit) {
  return find({script_.pid}, visit);
}

std::vector<ProcessFacts> ScriptMembers::all(const Visit& visit, OnTag on_tag, TimePoint until) {
  std::vector<pid_t> roots{script_.pid};
  const bool leads_session = script_.session == script_.pid, leads_group = script_.group == script_.pid;
  if (leads_session || leads_group)
    for (const pid_t pid : all_processes())
      if ((leads_session ? ::getsid(pid) : ::getpgid(pid)) == script_.pid) roots.push_back(pid);
  std::vector<pid_t> carriers;
  const std::vector<ProcessFacts> found =
      find(roots, visit, [&] { return carriers = tagged(on_tag); }, until);
  vanished_ = 0;
  const std::unordered_set<pid_t> dead = std::exchange(zombies_, {});
  for (const pid_t pid : carriers) {
    if (std::ranges::find(found, pid, &ProcessFacts::pid) != found.end()) continue;
    if (facts_of(pid)) zombies_.insert(pid);
    if (!dead.contains(pid)) vanished_ = pid;
  }
  return found;
}

std::vector<ProcessFacts> ScriptMembers::find(const std::vector<pid_t>& roots, const Visit& visit,
                                              const std::function<std::vector<pid_t>()>& others,
                                              TimePoint until) {
  const auto belongs = [this](const ProcessFacts& process) {
    return is_script(process) || is_led_by_script(process);
  };
  const auto note = [&](const ProcessFacts& process) {
    if (is_script(process)) script_ = process;  // the script may have changed its group
    const ScriptNumber own = number_of(id_of(process));
    if (script_in(tag_on(process.pid)) == own) scripts_.insert(own);
    if (visit) visit(process);
  };
  return seen_.find(roots, belongs, note, others, until);
}

/// A process that starts another one and ends at once may end before the pass over /proc reaches it. But the
/// other one's number is among the newest numbers, so these are checked again and again.
std::vector<pid_t> ScriptMembers::tagged(OnTag on_tag) {
  std::vector<pid_t> found;
  const auto ask = [&](pid_t pid) {
    if (!carries_tag(pid)) return;
    if (on_tag == OnTag::gets_stop) ::kill(pid, SIGSTOP);
    found.push_back(pid);
  };
  for (const pid_t pid : all_processes()) ask(pid);
  for (int round = 0; round < kAsksAboutNewest; ++round) {
    const pid_t newest = newest_process();
    for (pid_t pid = std::max(newest - kNewest, 1); newest > 0 && pid < newest + kNewest; ++pid) ask(pid);
  }
  return found;
}

/// Is it the tag of the script, or of a script inside it, whose own processes may have ended? Such a script is known
/// from then on. Any user may set the tags of its own processes. So a process of another user may claim to be inside
/// this script, but not that a third script is.
bool ScriptMembers::recognize(ScriptTag tag, pid_t carrier) {
  if (scripts_.contains(script_in(tag))) return true;
  if (!scripts_.contains(outer_in(tag))) return false;
  if (is_of_our_user(carrier)) scripts_.insert(script_in(tag));
  return true;
}

bool ScriptMembers::is_script(const ProcessFacts& process) const {
  return process.pid == script_.pid && process.started == script_.started;
}

/// Is it a member of the script's session, or an orphan in its group? The children of a member are found with it. A
/// child of the script's own parent does not count, because for `script | tee log` the shell puts both commands into
/// one group.
bool ScriptMembers::is_led_by_script(const ProcessFacts& process) const {
  if (process.session != script_.session) return false;
  if (script_.session == script_.pid) return true;
  if (script_.group != script_.pid || process.group != script_.group) return false;
  if (::getpgid(process.parent) == script_.group) return false;
  const bool by_parent = process.parent == script_.parent && process.parent > 1;
  return !by_parent || ::getsid(process.parent) != script_.session;
}

bool ScriptMembers::stays_together() {
  if (is_tagged_ || script_.session == script_.pid) return true;
  if (script_.group != script_.pid) return false;
  return std::ranges::none_of(descendants(), [&](const ProcessFacts& member) {
    return member.session == script_.session && member.group != script_.group;
  });
}

bool ScriptMembers::may_have_orphans(const std::vector<ProcessFacts>& ancestors) {
  const pid_t self = ::getpid();
  return std::ranges::any_of(all_processes(), [&](pid_t pid) {
    if (pid == self || pid == keeper_) return false;
    const bool carries_tag = recognize(tag_beyond_us(pid), pid);
    if (!carries_tag && ::getsid(pid) != script_.session) return false;
    if (std::ranges::find(ancestors, pid, &ProcessFacts::pid) != ancestors.end()) return false;
    const auto facts = facts_of(pid);
    return facts && facts->alive() && (carries_tag || may_be_an_orphan_of_script(*facts));
  });
}

/// Is it a member of the script's group that was started after the script, with a parent outside the group?
/// It may be the script's orphan, or that of a stranger in the same group.
bool ScriptMembers::may_be_an_orphan_of_script(const ProcessFacts& process) const {
  if (process.session != script_.session || process.group != script_.group) return false;
  if (process.pid == process.group || process.started < script_.started) return false;
  return ::getpgid(process.parent) != script_.group;
}

}  // namespace rlock
