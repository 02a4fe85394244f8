#include "cmd/hold/request/holder_facts.h"

#include <unistd.h>

#include "base/ancestry.h"
#include "base/text.h"
#include "cmd/hold/request/command_name.h"
#include "process/processes.h"

namespace rlock {
namespace {

/// The words that started a process; empty if /proc does not show them.
std::vector<std::string> words_of(pid_t pid) {
  std::string text = proc_text(pid, "cmdline").value_or("");
  if (text.empty()) return {};
  if (text.back() == '\0') text.pop_back();
  return split(text, '\0');
}

Metadata about_process(pid_t pid) {
  const std::vector<std::string> words = words_of(pid);
  Metadata facts = about_us(words.empty() ? "?" : command_name(words));
  facts.pid = pid;
  const auto process = process_of(pid);
  facts.started = process ? std::optional{process->started} : std::nullopt;
  return facts;
}

/// Adds what the request says: the user's reason and labels, and whether the hold is renewed.
Metadata with_request(Metadata facts, const HoldRequest& request) {
  if (!request.remarks.reason.empty()) facts.reason = request.remarks.reason;
  facts.labels = request.remarks.labels;
  facts.renews = request.renew;
  return facts;
}

}  // namespace

Metadata about_run(const HoldRequest& request, const std::vector<std::string>& command, bool show_args) {
  Metadata facts = with_request(about_us(command_name(command)), request);
  if (show_args) facts.command = command_line(command);
  facts.kill_after = request.stop.kill_after;
  return facts;
}

Metadata about_script(const HoldRequest& request) {
  Metadata facts = with_request(about_process(request.script ? request.script->pid : ::getppid()), request);
  if (request.script) facts.kill_after = request.stop.kill_after;
  return facts;
}

Metadata about_calling_script() {
  Metadata facts = about_process(::getppid());
  facts.renews = false;
  return facts;
}

}  // namespace rlock
