#include "cmd/verbs/verbs.h"
#include "cmd/run/run_verbs.h"

#include <fmt/format.h>

#include <array>

#include "cmd/cli/help.h"
#include "cmd/server/server_options.h"

namespace rlock {
namespace {

constexpr std::array kVerbs{
    VerbEntry{"run", "rlock run -k KEY [OPTIONS] [--] COMMAND [ARG...]", run_verb},
    VerbEntry{"flock", "the same by the command line of flock(1)", flock_verb},
    VerbEntry{"lock acquire", "take a lock for a script or a lease; prints its owner id", lock_acquire_verb},
    VerbEntry{"lock release", "give it back", lock_release_verb},
    VerbEntry{"lock renew", "let its lease start anew", lock_renew_verb},
    VerbEntry{"lock status", "is it held, and by whom", lock_status_verb},
    VerbEntry{"lock wait", "until it is free, without taking it", lock_wait_verb},
    VerbEntry{"permit init", "make a pool of N permits", permit_init_verb},
    VerbEntry{"permit add", "make N more available", permit_add_verb},
    VerbEntry{"permit acquire", "take permits for the time of a lease; prints ids", permit_acquire_verb},
    VerbEntry{"permit release", "give permits back", permit_release_verb},
    VerbEntry{"permit renew", "let their leases start anew", permit_renew_verb},
    VerbEntry{"permit status", "how many are available", permit_status_verb},
    VerbEntry{"permit delete", "remove the pool", permit_delete_verb},
    VerbEntry{"sem init", "make a semaphore of N permits", sem_init_verb},
    VerbEntry{"sem acquire", "take permits", sem_acquire_verb},
    VerbEntry{"sem release", "give permits back", sem_release_verb},
    VerbEntry{"sem add", "make N more available", sem_add_verb},
    VerbEntry{"sem drain", "take all that is available", sem_drain_verb},
    VerbEntry{"sem status", "how many are available", sem_status_verb},
    VerbEntry{"sem delete", "remove it", sem_delete_verb},
    VerbEntry{"latch set", "make one that opens after N counts", latch_set_verb},
    VerbEntry{"latch down", "count it down", latch_down_verb},
    VerbEntry{"latch wait", "wait until it is open", latch_wait_verb},
    VerbEntry{"latch status", "is it open", latch_status_verb},
    VerbEntry{"latch delete", "remove it", latch_delete_verb},
    VerbEntry{"list", "one line a key: who has it, since when, who waits", list_verb},
    VerbEntry{"metrics", "what list shows, as text for Prometheus", metrics_verb},
    VerbEntry{"top", "the same, live", top_verb},
    VerbEntry{"inspect", "who holds what, since when, until when, who waits", inspect_verb},
    VerbEntry{"history", "who had a key, and how each hold ended", history_verb},
    VerbEntry{"stop", "ask whoever holds a lock to end", stop_verb},
    VerbEntry{"unlock", "remove a lock by force", unlock_verb},
    VerbEntry{"config", "which settings are in force, and why", config_verb},
    VerbEntry{"doctor", "is this server fit to hold locks?", doctor_verb},
    VerbEntry{"server start", "start it, unless it runs", server_start_verb},
    VerbEntry{"server stop", "stop it in good order", server_stop_verb},
    VerbEntry{"server status", "does it run, and where", server_status_verb},
    VerbEntry{"scripts list", "name them, with their SHA-1", scripts_list_verb},
    VerbEntry{"scripts show", "print one, byte for byte as it is sent", scripts_show_verb},
    VerbEntry{"scripts load", "load them into the servers beforehand", scripts_load_verb},
    VerbEntry{"completion bash", "for bash", completion_bash_verb},
    VerbEntry{"completion zsh", "for zsh", completion_zsh_verb},
    VerbEntry{"completion fish", "for fish", completion_fish_verb},
    VerbEntry{"help", "what a verb does", help_verb},
    VerbEntry{"version", "which rlock this is", version_verb},
};

/// What shells ask when TAB is pressed. In no list: people do not type it.
constexpr VerbEntry kComplete{"complete", "answer a shell that completes", complete_verb};

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
  for (const VerbEntry& entry : verbs()) {
    if (entry.name == noun) return std::string{entry.summary};
    if (!entry.name.starts_with(std::string{noun} + " ")) continue;
    line += (line.empty() ? "" : " | ") + std::string{entry.name.substr(noun.size() + 1)};
  }
  return line;
}

}  // namespace

std::span<const VerbEntry> verbs() { return kVerbs; }

const VerbEntry* find_verb(std::string_view name) {
  for (const VerbEntry& entry : verbs()) {
    if (entry.name == name) return &entry;
  }
  return name == kComplete.name ? &kComplete : nullptr;
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
  for (const VerbEntry& entry : verbs()) {
    if (!entry.name.starts_with(std::string{noun} + " ")) continue;
    lines += fmt::format("  {:<10} {}\n", entry.name.substr(noun.size() + 1), entry.summary);
  }
  if (lines.empty()) return lines;
  return fmt::format("Usage: rlock {0} VERB [OPTIONS] ...\n\n{1}\nrlock {0} VERB --help says more.\n", noun,
                     lines);
}

}  // namespace rlock
