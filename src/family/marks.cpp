#include "family/marks.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "process/processes.h"

namespace rlock {
namespace {

/// How often environment_of() looks at a process in execve(). Before the last look a SearchApart takes it for silent.
constexpr int kLooksAtExec = 1200;

/// In microseconds.
constexpr useconds_t kBetweenLooks = 500;

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

bool Marks::on_living(pid_t pid) const {
  if (marks_.empty()) return false;
  // Each entry ends with a zero byte. A nested run appends lines to RLOCK_STACK, so the mark may also be followed by
  // a newline.
  const std::string environment = '\0' + environment_of(pid);
  return std::ranges::all_of(marks_,
                             [&](const std::string& mark) {
                               const std::string entry = '\0' + mark;
                               return environment.find(entry + '\0') != std::string::npos ||
                                      environment.find(entry + '\n') != std::string::npos;
                             }) &&
         is_alive(pid);
}

}  // namespace rlock
