#include "cmd/app/verb_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cmd/app/app_verbs.h"
#include "cmd/cli/help.h"
#include "cmd/run/run_verbs.h"
#include "cmd/verbs/verbs.h"

namespace rlock {
namespace {

/// The rows of each file, in the order of the help.
constexpr std::array<VerbRows (*)(), 21> kTable{
    run_verbs,     flock_verbs,      lock_acquire_verbs, lock_verbs,    lock_wait_verbs, permit_verbs,
    sem_verbs,     latch_verbs,      list_verbs,         metrics_verbs, top_verbs,       inspect_verbs,
    history_verbs, stop_verbs,       unlock_verbs,       config_verbs,  doctor_verbs,    server_verbs,
    scripts_verbs, completion_verbs, help_verbs};

/// The nouns with a line of their own in the help of rlock. The others share the last line.
constexpr std::array<std::string_view, 13> kMainNouns{"run",     "flock", "lock",  "permit",  "sem",
                                                      "latch",   "list",  "top",   "inspect", "history",
                                                      "metrics", "stop",  "unlock"};

}  // namespace

std::vector<const VerbEntry*> verbs() {
  std::vector<const VerbEntry*> all;
  for (const auto rows : kTable)
    for (const VerbEntry& entry : rows()) all.push_back(&entry);
  return all;
}

const VerbEntry* find_verb(std::string_view name) {
  for (const auto rows : kTable)
    for (const VerbEntry& entry : rows())
      if (entry.name == name) return &entry;
  // Shells use `complete` when the user presses TAB. No help lists it, because users do not type it.
  const VerbEntry& complete = complete_verbs().front();
  return name == complete.name ? &complete : nullptr;
}

std::vector<std::string> nouns() {
  std::vector<std::string> names;
  for (const VerbEntry* entry : verbs()) {
    std::string noun{entry->name.substr(0, entry->name.find(' '))};
    if (std::ranges::find(names, noun) == names.end()) names.push_back(std::move(noun));
  }
  return names;
}

std::string about_noun(std::string_view noun) {
  std::string line;
  for (const VerbEntry* entry : verbs()) {
    if (entry->name == noun) return std::string{entry->summary};
    if (entry->name.starts_with(std::string{noun} + " "))
      line += (line.empty() ? "" : ", ") + std::string{entry->name.substr(noun.size() + 1)};
  }
  return line;
}

std::string main_screen() {
  std::string text =
      "Usage: rlock VERB [OPTIONS] [ARGUMENTS]\n"
      "rlock runs commands under locks in Redis or Valkey, on the keys of Redisson\n"
      "(Java). It stops a command before its lock can end.\n\n";
  std::vector<std::string> others;
  for (const std::string& noun : nouns()) {
    if (std::ranges::find(kMainNouns, noun) == kMainNouns.end())
      others.push_back(noun);
    else
      text += fmt::format("  {:<8} {}\n", noun, about_noun(noun));
  }
  text += fmt::format("  {}\n\n", joined(others, ", "));
  VerbSpec everywhere;
  ServerOptions unused;
  declare_server_options(everywhere, unused);
  return text + help_line(everywhere.option("url")) +
         "rlock VERB --help explains a verb; rlock(1) has all statuses and pages.\n\n"
         "  rlock run -k deploy -- make deploy           wait, run, release\n"
         "  rlock run -u local: -k demo -- echo hello    try it without a server\n";
}

std::string noun_screen(std::string_view noun) {
  std::string lines;
  for (const VerbEntry* entry : verbs()) {
    if (!entry->name.starts_with(std::string{noun} + " ")) continue;
    lines += fmt::format("  {:<10} {}\n", entry->name.substr(noun.size() + 1), entry->summary);
  }
  if (lines.empty()) return lines;
  return fmt::format(
      "Usage: rlock {0} VERB [OPTIONS] ...\n\n{1}\nrlock {0} VERB --help explains a verb; see also rlock-{0}(1).\n",
      noun, lines);
}

}  // namespace rlock
