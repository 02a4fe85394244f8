#include "family/descendants.h"

#include <unistd.h>

#include <cstddef>
#include <unordered_set>

#include "base/blocking.h"
#include "process/script_tag.h"

namespace rlock {

std::vector<ProcessFacts> Descendants::find(const std::vector<pid_t>& roots, const Belongs& belongs,
                                            const Visit& visit,
                                            const std::function<std::vector<pid_t>()>& others,
                                            TimePoint until) {
  std::vector<ProcessFacts> found;
  if (!proc_shows_us()) return found;  // and forgets none
  std::unordered_set<pid_t> known{never_, ::getpid()};
  bool over = false;
  const auto add = [&](pid_t pid, const auto& counts) {
    over = over || (until != kNever && has_passed(until));
    if (over || known.contains(pid) || has_left_scripts(pid)) return;
    const auto facts = facts_of(pid);
    if (!facts || !facts->alive() || !counts(*facts)) return;
    known.insert(pid);
    visit(*facts);
    found.push_back(*facts);
  };
  Parentage parentage;
  const auto always = [](const ProcessFacts&) { return true; };
  std::size_t next = 0;
  const auto add_children = [&] {
    for (; next < found.size(); ++next)
      for (const pid_t child : parentage.children_of(ProcessFacts{found[next]})) add(child, always);
  };
  for (const pid_t root : roots) add(root, belongs);
  for (const auto& [pid, started] : found_)
    add(pid, [since = started](const ProcessFacts& process) { return process.started == since; });
  add_children();
  if (others)
    for (const pid_t pid : others()) add(pid, always);
  add_children();
  if (!over) found_.clear();
  for (const ProcessFacts& process : found) found_.insert_or_assign(process.pid, process.started);
  return found;
}

}  // namespace rlock
