#include "cmd/app/verb_table.h"

#include <fmt/format.h>

#include <array>

#include "cmd/app/app_verbs.h"
#include "cmd/cli/help.h"
#include "cmd/run/run_verbs.h"
#include "cmd/verbs/verbs.h"

namespace rlock {
namespace {

/// The rows of each file, in the order of the screens.
constexpr std::array<VerbRows (*)(), 21> kTable{
    run_verbs,     flock_verbs,      lock_acquire_verbs, lock_verbs,    lock_wait_verbs, permit_verbs,
    sem_verbs,     latch_verbs,      list_verbs,         metrics_verbs, top_verbs,       inspect_verbs,
    history_verbs, stop_verbs,       unlock_verbs,       config_verbs,  doctor_verbs,    server_verbs,
    scripts_verbs, completion_verbs, help_verbs};

/// What people look for, in the order in which they look for it.
struct Chapter {
  std::string_view title;
  std::vector<std::string_view> nouns;
};

std::vector<Chapter> chapters() {
  return {
      {"Hold something while a command runs", {"run", "flock"}},
      {"Scripts that cannot wrap", {"lock", "permit", "sem", "latch"}},
      {"People",
       {"list", "top", "inspect", "history", "metrics", "stop", "unlock", "config", "doctor", "server",
        "scripts", "completion", "help", "version"}},
  };
}

/// The verbs of a noun, "acquire | release", or what a verb
/// without a noun is for. Empty where there is neither.
std::string line_of(std::string_view noun) {
  std::string line;
  for (const VerbEntry* entry : verbs()) {
    if (entry->name == noun) return std::string{entry->summary};
    if (!entry->name.starts_with(std::string{noun} + " ")) continue;
    line += (line.empty() ? "" : " | ") + std::string{entry->name.substr(noun.size() + 1)};
  }
  return line;
}

}  // namespace

std::vector<const VerbEntry*> verbs() {
  std::vector<const VerbEntry*> all;
  for (const auto rows : kTable)
    for (const VerbEntry& entry : rows()) all.push_back(&entry);
  return all;
}

const VerbEntry* find_verb(std::string_view name) {
  for (const VerbEntry* entry : verbs())
    if (entry->name == name) return entry;
  // What shells ask when TAB is pressed. On no screen: people do not type it.
  const VerbEntry& complete = complete_verbs().front();
  return name == complete.name ? &complete : nullptr;
}

std::string main_screen() {
  std::string text =
      "Usage: rlock VERB [OPTIONS] ...\n\n"
      "Run commands under locks kept in Redis or Valkey: the same locks, on the same\n"
      "keys, as Redisson's (Java).\n\n";
  for (const Chapter& chapter : chapters()) {
    std::string lines;
    for (const std::string_view noun : chapter.nouns) {
      const std::string line = line_of(noun);
      if (!line.empty()) lines += fmt::format("  {:<10} {}\n", noun, line);
    }
    if (!lines.empty()) text += fmt::format("{}\n{}", chapter.title, lines);
  }
  VerbSpec everywhere;
  ServerOptions unused;
  declare_server_options(everywhere, unused);
  everywhere.add({.names = "-h, --help"});
  everywhere.add({.names = "-V, --version"});
  text += "\n" + help_group(everywhere.groups.front());
  text +=
      "\nOptions beat RLOCK_URL, RLOCK_PASSWORD[_FILE] and RLOCK_PREFIX, which beat\n"
      "~/.config/rlock/config, /etc/rlock/config, and last REDIS_URL.\n\n"
      "Exit status: the command's, or 75 busy, 124 stopped by --max-hold or rlock stop,\n"
      "125 lock lost, 126/127 cannot run, 64 usage, 65 other type, 69 no server,\n"
      "77 denied, 78 configuration. Verbs without a command: 0 yes, 1 no.\n\n"
      "  rlock run -k deploy -- make deploy           wait, run, release\n"
      "  rlock run -n -k nightly -- ./job             or exit 75 at once\n"
      "  rlock inspect deploy                         who has it?\n"
      "  rlock run -u local: -k demo -- echo hello    try it here\n";
  return text;
}

std::string noun_screen(std::string_view noun) {
  std::string lines;
  for (const VerbEntry* entry : verbs()) {
    if (!entry->name.starts_with(std::string{noun} + " ")) continue;
    lines += fmt::format("  {:<10} {}\n", entry->name.substr(noun.size() + 1), entry->summary);
  }
  if (lines.empty()) return lines;
  return fmt::format("Usage: rlock {0} VERB [OPTIONS] ...\n\n{1}\nrlock {0} VERB --help says more.\n", noun,
                     lines);
}

}  // namespace rlock
