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

Metadata about_script(pid_t script) {
  const std::vector<std::string> words = words_of(script);
  Metadata facts = about_us(words.empty() ? "?" : command_name(words));
  facts.pid = script;
  const auto process = process_of(script);
  facts.started = process ? std::optional{process->started} : std::nullopt;
  return facts;
}

/// Adds the user's reason and labels, and whether the hold is renewed.
Metadata with_remarks(Metadata facts, const HoldRequest& request) {
  if (!request.remarks.reason.empty()) facts.reason = request.remarks.reason;
  facts.labels = request.remarks.labels;
  facts.renews = request.renew;
  return facts;
}

}  // namespace

Metadata facts_of(const HoldRequest& request, const std::vector<std::string>& command, bool show_args) {
  Metadata facts = with_remarks(about_us(command_name(command)), request);
  if (show_args) facts.command = command_line(command);
  facts.kill_after = request.stop.kill_after;
  return facts;
}

Metadata facts_of(const HoldRequest& request) {
  Metadata facts = with_remarks(about_script(request.script ? request.script->pid : ::getppid()), request);
  if (request.script) facts.kill_after = request.stop.kill_after;
  return facts;
}

Metadata about_the_script() {
  Metadata facts = about_script(::getppid());
  facts.renews = false;
  return facts;
}

}  // namespace rlock
