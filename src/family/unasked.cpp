#include "family/unasked.h"

#include <unistd.h>

namespace rlock {
namespace {

/// If a list may lack a process, so many more are made at most.
constexpr int kMoreLists = 20;

/// May the process have adopted orphans? Those that do are the first process of a system or container, and its
/// children, such as the service manager of a user.
bool may_adopt(const ProcessFacts& process) { return process.parent <= 1; }

}  // namespace

std::vector<pid_t> Unasked::next() {
  std::vector<pid_t> found = new_ones();
  for (int more = 0; found.empty() && may_lack_one_ && more < kMoreLists; ++more) found = new_ones();
  return found;
}

std::vector<pid_t> Unasked::new_ones() {
  const bool is_first = listed_.empty();
  may_lack_one_ = false;
  std::vector<ProcessFacts> fresh, seen;
  for (const pid_t pid : proc_.all()) {
    const auto facts = proc_.facts(pid);
    const auto before = listed_.find(pid);
    if (facts && before != listed_.end() && before->second == facts->started) continue;
    if (!facts || !facts->alive())
      may_lack_one_ = true;
    else if (!facts->of_kernel && pid != ::getpid())
      fresh.push_back(*facts);
    if (facts) seen.push_back(*facts);
  }
  std::vector<pid_t> found;
  for (const ProcessFacts& process : fresh)
    if (is_first || !has_answered(process.parent)) found.push_back(process.pid);
  for (const ProcessFacts& process : seen)
    listed_[process.pid] = process.started;  // only now: a parent may be fresh, too
  return found;
}

/// Has it answered "no", and does it live, so that no orphan has become its child?
bool Unasked::has_answered(pid_t pid) const {
  const auto before = listed_.find(pid);
  const auto facts = before == listed_.end() ? std::nullopt : proc_.facts(pid);
  return facts && facts->alive() && facts->started == before->second && !may_adopt(*facts);
}

bool is_stranger(pid_t pid, const Origin& command, const ProcView& proc) {
  auto facts = proc.facts(pid);
  if (!facts || facts->started < command.born) return true;
  // No other process gets the number of a session's first process while the session lasts.
  const auto first =
      facts->session > 0 && facts->session != command.session ? proc.facts(facts->session) : std::nullopt;
  if (first && first->started < command.born) return true;
  for (int above = 0; facts && facts->started >= command.born && above < kDeepestAncestry; ++above)
    facts = proc.facts(facts->parent);
  return facts && facts->started < command.born && !may_adopt(*facts) && facts->pid != command.parent;
}

}  // namespace rlock
