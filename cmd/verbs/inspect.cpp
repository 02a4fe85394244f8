// rlock inspect: prints the holders of keys, their times, and the waiters.

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "cmd/ask/inspector.h"
#include "cmd/ask/listing.h"
#include "cmd/ask/past_holds.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/output.h"
#include "cmd/server/key_options.h"
#include "cmd/server/server_options.h"
#include "cmd/server/session.h"
#include "cmd/verbs/verbs.h"
#include "cmd/view/inspection_json.h"
#include "cmd/view/inspection_text.h"
#include "sync/watch/listeners.h"

namespace rlock {
namespace {

/// The time for a search without a KEY. A server with millions of keys has other work to do.
constexpr Milliseconds kSearch{10000};

class Inspect final : public Verb {
 public:
  void declare(VerbSpec& spec) override;
  int act(TimePoint started, std::vector<std::string> command) override;

 private:
  Listing look(Session& session) const;
  void show(const Listing& listing) const;
  static void show_listeners(Session& session);
};

void Inspect::declare(VerbSpec& spec) {
  spec.about =
      "Print who holds KEY, since when, until when and why, and who waits. Nothing changes. Without KEY, "
      "rlock searches for all keys that it has notes about, for at most 10s.";
  spec.notes =
      "What to do about a lock\n"
      "  renewed N ago        The holder is alive. Ask it to end: rlock stop KEY\n"
      "  not renewed for N    The holder looks dead. Wait, or rlock unlock KEY\n"
      "  finished N ago       No command runs. Wait, or rlock unlock KEY\n"
      "  no TTL               The key never expires: rlock unlock KEY\n"
      "  a stuck permit       rlock unlock KEY --if-owner ID; -v prints the ids\n"
      "\n"
      "To test whether KEY is held, use rlock lock status -q KEY.\n";
  spec.examples = {{"rlock inspect deploy", ""},
                   {"rlock inspect --json deploy | jq -r '.keys[0].holders[].meta.host'", ""},
                   {"rlock inspect --json | jq -r '.keys[] | select(.state==\"held\").key'", ""}};
  declare_json(spec, json_);
  declare_verbosity(spec, {.help = "print only the names of the keys"},
                    {.help = "also print full ids, all waiters, and the listeners"});
}

Listing Inspect::look(Session& session) const {
  if (keys_.empty()) return list_found(session, {.without_shards = true}, kSearch);
  std::vector<LockName> names;
  for (const std::string& key : keys_) names.push_back(session.name(key));
  return list_named(session, names);
}

void Inspect::show(const Listing& listing) const {
  if (json_) return print_line(inspection_document(listing.seen, listing.complete).str());
  if (verbosity() != Verbosity::quiet) return print(inspections_text(listing.seen));
  print(names_text(listing.seen));
}

/// Prints the connection names of possible waiters.
void Inspect::show_listeners(Session& session) {
  for (const Vote& vote : session.redis.run_all(ask_listeners(), {}, session.patience())) {
    std::vector<std::string> names;
    if (vote.reply()) names = read_names(*vote.reply());
    for (std::string& name : names) name = sanitized(name, 120);
    if (!names.empty()) print(fmt::format("listening, for these keys or others: {}\n", joined(names, ", ")));
  }
}

int Inspect::act(TimePoint, std::vector<std::string>) {
  Session session{server_, Session::Access::looks};
  Listing listing = look(session);
  if (!keys_.empty())
    for (Inspection& seen : listing.seen)
      if (seen.state == Inspection::State::free && seen.holders.empty()) look_back(session, seen);
  show(listing);
  const auto listened_to = [](const Inspection& seen) { return seen.waiting() > 0; };
  if (!json_ && verbosity() == Verbosity::verbose && std::ranges::any_of(listing.seen, listened_to))
    show_listeners(session);
  say_what_is_missing(listing, "name a KEY to see it");
  for (const Inspection& seen : listing.seen)
    if (seen.absent()) say_if_pattern(seen.name);
  if (listing.shard_missing) return exit_code::unreachable;
  if (listing.seen.empty() && !json_)
    info("there are no keys with notes of rlock; rlock list --all shows others");
  return exit_code::ok;
}

}  // namespace

VerbRows inspect_verbs() {
  static constexpr VerbEntry kRow{.name = "inspect",
                                  .summary = "print who holds a key, since when, why, and who waits",
                                  .takes = takes::counters | takes::server,
                                  .exits = "0 the server answered",
                                  .create = create<Inspect>};
  return {&kRow, 1};
}

}  // namespace rlock
