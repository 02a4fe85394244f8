#include "cmd/run/script_facts.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/ancestry.h"
#include "base/text.h"
#include "cmd/run/command_name.h"
#include "loop/processes.h"

namespace rlock {
namespace {

/// The words that started a process; nothing where /proc does not tell.
std::vector<std::string> words_of(pid_t pid) {
  std::string text = proc_text(pid, "cmdline");
  if (text.empty()) return {};
  if (text.back() == '\0') text.pop_back();
  return split(text, '\0');
}

}  // namespace

Metadata about_script(pid_t script) {
  const std::vector<std::string> words = words_of(script);
  Metadata facts = about_us(words.empty() ? "?" : command_name(words));
  facts.pid = script;
  const auto process = process_of(script);
  facts.started = process ? std::optional{process->started} : std::nullopt;
  return facts;
}

Metadata about_the_script() {
  Metadata facts = about_script(::getppid());
  facts.renews = false;
  return facts;
}

}  // namespace rlock
