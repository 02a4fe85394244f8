// rlock inspect: who holds what, since when, until when, and who waits.

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <set>

#include "base/error.h"
#include "base/key_text.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/cli/exit_code.h"
#include "cmd/verbs/owner_option.h"
#include "cmd/verbs/verbs.h"
#include "cmd/view/candidates.h"
#include "cmd/view/inspection.h"
#include "cmd/view/search.h"

namespace rlock {
namespace {

/// How long to look for keys that nobody has named. A server with millions of keys has more to do.
constexpr Milliseconds kSearch{10000};

/// Of what was seen so many bytes are kept, about: no server may fill our memory.
constexpr std::size_t kMostShown = 8U << 20;
constexpr const char* kTooMany = ": there are too many keys";

std::size_t size_of(const Owner& owner, const std::optional<Metadata>& facts) {
  std::size_t bytes = sizeof(Holder) + owner.str().size();
  if (!facts) return bytes;
  bytes += facts->host.size() + facts->user.size() + facts->command.size();
  bytes += facts->reason.value_or("").size() + facts->url.value_or("").size();
  for (const auto& [label, value] : facts->labels) bytes += label.size() + value.size();
  return bytes;
}

std::size_t size_of(const Inspection& seen) {
  std::size_t bytes = sizeof seen + seen.name.str().size();
  for (const Waiter& waiter : seen.waiters) bytes += size_of(waiter.owner, waiter.meta);
  for (const Holder& holder : seen.holders) bytes += size_of(holder.owner, holder.meta);
  return bytes;
}

class Inspect final : public Verb {
 public:
  VerbSpec spec() override;
  int act(TimePoint started, std::vector<std::string> command) override;

 private:
  std::vector<LockName> names(Session& session, TimePoint until);
  std::vector<Inspection> inspect_all(Session& session, TimePoint until);
  void show(const std::vector<Inspection>& found) const;
  static void show_listeners(Session& session);

  std::vector<std::string> keys_;
  bool json_ = false;
  std::string completion_;  ///< what TAB asks for; empty: nobody pressed it
  bool complete_ = true;
  std::string cut_short_;  ///< why not all keys are shown: "after 10s"; empty: they are
  std::set<std::string> silent_;
  ServerOptions server_;
};

VerbSpec Inspect::spec() {
  VerbSpec spec{
      .verb = "inspect",
      .usage = {"inspect [OPTIONS] [KEY...]"},
      .about =
          "Say who holds KEY, since when, until when, and who waits. Changes nothing.\n"
          "Without KEY: every key with rlock's metadata (a SCAN, at most 10s).",
      .notes =
          "What to do\n"
          "  renewed just now        it is alive: stop that command, the lock frees itself\n"
          "  not renewed for N       it looks dead: it frees itself, or rlock unlock KEY\n"
          "  kept by --min-hold      nothing runs: wait, or rlock unlock KEY\n"
          "  no TTL                  never frees itself: rlock unlock KEY\n"
          "\n"
          "Exit status: 0 the server answered (held or not), 64 usage, 69 no server,\n"
          "77 denied, 78 configuration. To test for \"held\": rlock lock status -q KEY",
      .examples = {{"rlock inspect deploy", ""},
                   {"rlock inspect --json deploy | jq -r '.keys[0].holders[].meta.host'", ""},
                   {"rlock inspect --json | jq -r '.keys[] | select(.state==\"held\").key'", ""}},
  };
  declare_keys(spec, keys_, true, Offer::counter);
  spec.add({.names = "--json", .help = "one document; schema in rlock-inspect(1)", .set = into(json_)});
  spec.add(
      {.names = "--completion", .value = "WHAT", .hidden = true, .set = choice(completion_, kCandidates)});
  spec.add({.names = "-q, --quiet", .help = "only the names of the keys", .set = [](std::string_view) {
              set_verbosity(Verbosity::quiet);
            }});
  spec.add({.names = "-v, --verbose",
            .help = "also owner ids in full, queue, keys, who listens",
            .set = [](std::string_view) { set_verbosity(Verbosity::verbose); }});
  declare_server_options(spec, server_);
  return spec;
}

std::vector<LockName> Inspect::names(Session& session, TimePoint until) {
  std::vector<LockName> names;
  for (const std::string& key : keys_) names.push_back(session.name(key));
  if (!names.empty()) return names;
  const FoundKeys found = search_keys(session, until);
  if (found.late) cut_short_ = " after " + describe(kSearch);
  if (found.too_many) cut_short_ = kTooMany;
  silent_ = found.silent;
  return {found.names.begin(), found.names.end()};
}

/// What the servers see, one server after the other.
std::vector<Inspection> Inspect::inspect_all(Session& session, TimePoint until) {
  std::vector<Inspection> all;
  std::exception_ptr unread;
  std::size_t denied = 0, bytes = 0;
  for (const LockName& name : names(session, until)) {
    if (keys_.empty() && Clock::now() >= until) {
      cut_short_ = " after " + describe(kSearch);
      break;
    }
    if (keys_.empty() && bytes > kMostShown) {
      cut_short_ = kTooMany;
      break;
    }
    try {
      Views views = inspect_each(session, name);
      for (const Inspection& seen : views.seen) bytes += size_of(seen);
      std::ranges::move(views.seen, std::back_inserter(all));
      silent_.insert(views.silent.begin(), views.silent.end());
    } catch (
        const Error&
            error) {  // one whose slot is moving, or that is not ours, is no reason to hide all the others
      if (!keys_.empty() || (error.kind() != Error::unreachable && error.kind() != Error::denied)) throw;
      if (error.kind() == Error::denied) {
        ++denied;
      } else {
        silent_.insert(fmt::format("{} cannot be read: {}", quoted(name), error.what()));
      }
      unread = std::current_exception();
    }
  }
  if (all.empty() && unread) std::rethrow_exception(unread);
  if (denied > 0)
    silent_.insert(
        fmt::format("{} more, which this user may not read; see ACCESS RIGHTS in rlock(1)", denied));
  complete_ = cut_short_.empty() && !unread;
  std::vector<std::string> order;
  for (std::size_t node = 0; node < session.redis.nodes(); ++node) order.push_back(session.redis.str(node));
  const auto place = [&](const Inspection& seen) {
    return seen.server ? std::ranges::find(order, *seen.server) : order.begin();
  };
  std::ranges::stable_sort(all, {}, place);
  return all;
}

void Inspect::show(const std::vector<Inspection>& found) const {
  if (json_) return print_line(inspection_document(found, complete_).str());
  if (verbosity() != Verbosity::quiet) return print(inspections_text(found));
  std::set<LockName> names;
  std::string text;
  for (const Inspection& seen : found) {
    if (names.insert(seen.name).second) text += sanitized(as_typed(seen.name), kLongestKey) + "\n";
  }
  print(text);
}

/// Who may be waiting, by the names that they have given their connections.
void Inspect::show_listeners(Session& session) {
  for (const Vote& vote : session.redis.run_all(ask_listeners(), {}, session.patience())) {
    std::vector<std::string> names;
    if (vote.reply) names = read_names(*vote.reply);
    for (std::string& name : names) name = sanitized(name, 120);
    if (!names.empty()) print(fmt::format("listening, for these keys or others: {}\n", joined(names, ", ")));
  }
}

int Inspect::act(TimePoint, std::vector<std::string>) {
  Session session{server_, nullptr, Session::Access::looks};
  if (!completion_.empty()) {
    print(candidates(session, completion_, keys_));
    return exit_code::ok;
  }
  const std::vector<Inspection> found = inspect_all(session, plus(Clock::now(), kSearch));
  show(found);
  const auto listened_to = [](const Inspection& seen) { return seen.waiting() > 0; };
  if (!json_ && verbosity() == Verbosity::verbose && std::ranges::any_of(found, listened_to))
    show_listeners(session);
  for (const std::string& server : silent_) complain(server);
  if (!cut_short_.empty()) complain(fmt::format("cut short{}; name a KEY to see it", cut_short_));
  for (const Inspection& seen : found)
    if (seen.absent()) say_if_pattern(seen.name);
  if (found.empty() && !json_) tell("no keys with metadata of rlock; name a KEY to see others");
  return exit_code::ok;
}

}  // namespace

std::unique_ptr<Verb> inspect_verb() { return std::make_unique<Inspect>(); }

}  // namespace rlock
