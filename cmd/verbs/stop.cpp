// rlock stop: asks whoever holds a lock to end. Unlike rlock unlock it takes nothing away: the holder stops
// its command, gives the lock back and ends, so nobody else can have the lock before the command has ended.

#include <fmt/format.h>

#include <algorithm>

#include "base/identity.h"
#include "base/key_text.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/ask/survey.h"
#include "cmd/cli/exit_code.h"
#include "cmd/run/hold_options.h"
#include "cmd/server/owner_option.h"
#include "cmd/verbs/found_lock.h"
#include "cmd/verbs/verbs.h"
#include "cmd/view/holder_text.h"
#include "cmd/view/inspection.h"
#include "sync/watch/holder_messages.h"

namespace rlock {
namespace {

/// A run that is younger than a second does not listen yet, and messages get lost: it is asked again.
constexpr Milliseconds kAskAgain{500};

/// Between two looks at whether the holder has ended.
constexpr Milliseconds kBetweenLooks{100};

/// How long a holder may take that has sent KILL to its command: to see it end, and to release.
constexpr Milliseconds kAfterKill{5000};

class Stop final : public Verb {
 public:
  void declare(VerbSpec& spec) override;
  int act(TimePoint started, std::vector<std::string>) override;

 private:
  void expect_askable(const Inspection& found) const;
  std::vector<Holder> holders_in(const Inspection& found) const;
  int stop(Session& session, const LockName& name, TimePoint started) const;
  int not_held(const Inspection& found) const;
  void ask(Session& session, const LockName& name, const std::vector<Holder>& holders) const;

  std::string why_;
  std::optional<Owner> owner_;
  std::optional<Milliseconds> wait_;
};

void Stop::declare(VerbSpec& spec) {
  spec.about =
      "Ask the holder of KEY to end. Its rlock run stops the command as --max-hold does,\nreleases the "
      "lock, and exits with 124. No other process gets the lock before that;\nrlock unlock removes the "
      "lock at once, while the command still runs.";
  spec.examples = {{"rlock stop deploy --reason \"the release is off\"", ""},
                   {"rlock stop -w 1m backup || rlock unlock backup", ""}};
  spec.group("Which holder, and why");
  spec.add({.names = "--reason",
            .value = "TEXT",
            .help = "tell the holder why; it prints and records TEXT",
            .manual = "TEXT has at most 1024 bytes.",
            .set = reason_into(why_)});
  spec.add(
      {.names = "--if-owner",
       .value = "ID",
       .help = "ask only the holder with this owner id",
       .manual =
           "Without the option, rlock asks every holder of KEY, for example all readers. For a pool of permits "
           "the option is required. rlock inspect -v prints the ids.",
       .offer = Offer::owner,
       .set = [this](std::string_view text) { owner_ = parse_owner(text); }});
  spec.group("How long to wait", "[the holder's --kill-after plus 5s]");
  spec.add({.names = "-w, --wait",
            .value = "DUR",
            .help = "wait at most DUR for the holder to end",
            .manual = "Default: the holder's --kill-after plus 5 seconds.",
            .set = into(wait_)});
}

/// A pool has many holders: which one is to end must be said.
void Stop::expect_askable(const Inspection& found) const {
  const bool is_pool = found.kind == &kinds::permit;
  if (is_pool && !owner_ && !found.holders.empty())
    throw Error{
        Error::wrong_type,
        fmt::format("{} holds {}: name who is to end by --if-owner ID; rlock inspect -v {} shows them",
                    quoted(found.name), found.kind->noun, words_for(found.name))};
  expect_lock(found, "", owner_);
}

std::vector<Holder> Stop::holders_in(const Inspection& found) const {
  std::vector<Holder> holders = found.holders;
  if (owner_) std::erase_if(holders, [&](const Holder& holder) { return holder.owner != *owner_; });
  return holders;
}

int Stop::not_held(const Inspection& found) const {
  tell(found.holders.empty()
           ? quoted(found.name) + " is free"
           : fmt::format("{} is not held by owner {}", quoted(found.name), in_quotes(owner_->str())));
  if (found.holders.empty()) say_if_pattern(found.name);
  return exit_code::no;
}

/// The command that removes by force what cannot be asked, or does not end.
std::string removal_of(const Inspection& found, const std::vector<Holder>& holders) {
  const bool is_permit = holders.front().mode == Holder::Mode::permit;
  return fmt::format("rlock unlock {}{}", words_for(found.name),
                     is_permit ? " --if-owner " + shell_quoted(holders.front().owner.str()) : "");
}

/// Why nobody hears a request; empty where somebody does.
std::string_view why_not(const Holder& holder) {
  if (!holder.meta) return "it is another client";
  if (holder.meta->ended_at) return "its command has ended, and only the key is kept";
  if (!holder.meta->renews) return "no process renews its lease";
  return holder.meta->kill_after ? "" : "its version of rlock takes no requests";
}

void Stop::ask(Session& session, const LockName& name, const std::vector<Holder>& holders) const {
  const std::string text = stop_request(fmt::format("{}@{}", user_name(), host_name()), why_);
  for (const Holder& holder : holders)
    static_cast<void>(session.any_answers(tell_holder(name, holder.owner, text)));
}

int Stop::stop(Session& session, const LockName& name, TimePoint started) const {
  const Inspection found = inspect(session, name);
  expect_askable(found);
  std::vector<Holder> holders = holders_in(found);
  if (holders.empty()) return not_held(found);
  Milliseconds patience{0};
  for (const Holder& holder : holders) {
    if (const std::string_view why = why_not(holder); !why.empty())
      throw Error{Error::wrong_type,
                  fmt::format("cannot ask the holder of {} to end: {}; to remove the lock by force: {}",
                              quoted(name), why, removal_of(found, holders))};
    patience = std::max(patience, *holder.meta->kill_after + kAfterKill);
  }
  const TimePoint until = plus(started, wait_.value_or(patience));
  const auto who = holders_text(holders, found.now);
  TimePoint ask_at = started;
  for (;;) {
    if (session.loop.now() >= ask_at) {
      ask(session, name, holders);
      ask_at = plus(session.loop.now(), kAskAgain);
    }
    const Inspection now = inspect(session, name);
    std::erase_if(holders, [&](const Holder& holder) { return holder_named(now, holder.owner) == nullptr; });
    if (holders.empty()) {
      tell(fmt::format("the holder of {} has ended: {}", quoted(name), who));
      return exit_code::ok;
    }
    if (session.loop.now() >= until) break;
    const TimePoint next = earliest(until, plus(session.loop.now(), kBetweenLooks));
    session.loop.wait({next, [&] { return session.signals.any(); }}, [] { return false; });
    session.check_signals();
  }
  tell(fmt::format(
      "{} is still held by {}, although rlock has asked it to end; to remove the lock by force: {}",
      quoted(name), holders_text(holders, std::nullopt), removal_of(found, holders)));
  return exit_code::busy;
}

int Stop::act(TimePoint started, std::vector<std::string>) {
  Session session{server_};
  int exit = exit_code::ok;
  for (const std::string& key : keys_) exit = std::max(exit, stop(session, session.name(key), started));
  return exit;
}

constexpr VerbEntry kRow{
    "stop",
    "ask the holder of a lock to stop its command",
    takes::keys | takes::server,
    "0 the holder has ended, 1 KEY is free or has another owner, 75 the wait ended before, 65 rlock "
    "cannot ask this holder",
    create<Stop>,
    "64 usage, 69 no server, 77 denied, 78 configuration"};

}  // namespace

VerbRows stop_verbs() { return {&kRow, 1}; }

}  // namespace rlock
