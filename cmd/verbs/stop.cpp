// rlock stop: asks the holder of a lock to end. Unlike rlock unlock, it does not remove the lock. The holder
// stops its command, releases the lock and ends. So no other client can get the lock while the command runs.

#include <fmt/format.h>

#include <algorithm>

#include "base/identity.h"
#include "base/key_text.h"
#include "base/log.h"
#include "base/owner_id.h"
#include "base/text.h"
#include "cmd/ask/inspector.h"
#include "cmd/cli/exit_code.h"
#include "cmd/hold/request/hold_options.h"
#include "cmd/hold/request/stop_rules.h"
#include "cmd/server/key_options.h"
#include "cmd/verbs/forced_removal.h"
#include "cmd/verbs/found_lock.h"
#include "cmd/verbs/verbs.h"
#include "cmd/view/holder_text.h"
#include "cmd/view/inspection_text.h"
#include "sync/records/holder_messages.h"

namespace rlock {
namespace {

/// A run does not listen in its first second, and messages get lost: so rlock asks again.
constexpr Milliseconds kAskAgain{500};

/// The pause between two checks if the holder has ended.
constexpr Milliseconds kBetweenLooks{100};

class Stop final : public Verb {
 public:
  void declare(VerbSpec& spec) override;
  int act(TimePoint started, std::vector<std::string>) override;

 private:
  /// A held key, and those of its holders that have been asked to end and have not ended yet.
  struct Asked {
    Inspection found;
    std::vector<Holder> holders;
    std::string who = holders_text(holders, found.now);  ///< all of them, for people
  };

  void expect_askable(const Inspection& found) const;
  std::vector<Holder> holders_in(const Inspection& found) const;
  int not_held(const Inspection& found) const;
  void ask(Session& session, const Asked& asked) const;
  bool wait_for(Session& session, std::vector<Asked>& asked, TimePoint started) const;

  std::string why_;
  std::optional<Owner> owner_;
  std::optional<Milliseconds> longest_wait_;
};

void Stop::declare(VerbSpec& spec) {
  spec.about =
      "Ask the holder of KEY to end. Its rlock run stops the command as --max-hold does, releases the "
      "lock, and exits with 124. No other process gets the lock before that; rlock unlock removes the "
      "lock at once, while the command still runs.";
  spec.examples = {{"rlock stop deploy --reason \"the release is off\"", ""},
                   {"rlock stop -w 1m backup || rlock unlock backup", ""}};
  spec.group("Which holder, and why");
  declare_reason(spec, why_, "tell the holder why; it prints and records TEXT");
  declare_owner(
      spec, owner_, "ask only the holder with this id",
      "ID is an owner id, or the id of a permit. Without the option, rlock asks every holder of KEY, for "
      "example all readers. For a pool of permits, and for more than 998 readers, the option is required. rlock inspect -v "
      "prints both ids.",
      "--if-owner");
  spec.group("How long to wait", "[the holder's --kill-after plus 5s]");
  spec.add({.names = "-w, --wait",
            .value = "DUR",
            .help = "wait at most DUR for the holder to end",
            .manual = "Default: the holder's --kill-after plus 5 seconds.",
            .set = into(longest_wait_)});
}

/// Of several permits, or of very many readers, the user must name one.
void Stop::expect_askable(const Inspection& found) const {
  expect_named(found, owner_, "the holder");
  if (!owner_ && found.unnamed > 0)
    throw Error{
        Error::wrong_type,
        fmt::format("{} has {} holders, more than rlock can ask: name one by --if-owner ID",
                    quoted(found.name), static_cast<std::int64_t>(found.holders.size()) + found.unnamed)};
  expect_lock(found, found.is_pool() ? kinds::permit.name : "");
}

std::vector<Holder> Stop::holders_in(const Inspection& found) const {
  std::vector<Holder> holders;
  for (const Holder& holder : found.holders) {
    if (!is_meant(holder, owner_)) continue;
    const auto same = std::ranges::find(holders, holder.owner, &Holder::owner);  // it reads and writes
    if (same == holders.end()) {
      holders.push_back(holder);
    } else if (holder.entered(found.now)) {
      *same = holder;
    }
  }
  return holders;
}

int Stop::not_held(const Inspection& found) const {
  info(found.holders.empty() ? quoted(found.name) + " is free" : not_held_by(*owner_, found));
  if (found.holders.empty()) say_if_pattern(found.name);
  return exit_code::no;
}

/// The command line that removes a hold by force, if its holder cannot be asked or does not end.
std::string removal_of(const Inspection& found, const std::vector<Holder>& holders) {
  const bool is_permit = holders.front().mode == Holder::Mode::permit;
  return fmt::format("rlock unlock {}{}{}", found.unknown_text() ? "--type plain " : "",
                     words_for(found.name),
                     is_permit ? " --if-owner " + shell_quoted(holders.front().owner.str()) : "");
}

/// Why no process receives the request. Empty: a process does.
std::string_view why_not(const Holder& holder, ServerTime now) {
  if (holder.entered(now)) return "";  // a run inside it hears the request
  if (!holder.facts)
    return is_of_rlock(holder.owner) ? "its process has left no notes" : "it is another client";
  if (holder.facts->ended_at) return "its command has ended, and only the key is kept";
  if (holder.facts->kill_after) return "";  // a run or a keeper takes requests, also with --no-renew
  return holder.facts->renews ? "its version of rlock takes no requests"
                              : "the script that acquired it takes no requests";
}

/// Throws Error{wrong_type} if no process would receive the request of a holder.
void expect_listeners(const Inspection& found, const std::vector<Holder>& holders) {
  for (const Holder& holder : holders)
    if (const std::string_view why = why_not(holder, found.now); !why.empty())
      throw Error{Error::wrong_type,
                  fmt::format("cannot ask the holder of {} to end: {}; to remove the lock by force: {}",
                              quoted(found.name), why, removal_of(found, holders))};
}

void Stop::ask(Session& session, const Asked& asked) const {
  const std::string text = stop_request(user_at_host(), why_);
  for (const Holder& holder : asked.holders)
    static_cast<void>(session.try_each(tell_holder(asked.found.name, holder.owner, text)));
}

/// Asks the holders until they have ended or the time is over. Afterwards `asked` has the keys that are still held.
/// Returns whether the holders have had all the time that they may need: a young run may not have heard the request
/// yet, and the wait may end before KILL.
bool Stop::wait_for(Session& session, std::vector<Asked>& asked, TimePoint started) const {
  Milliseconds patience{0};
  for (const Asked& one : asked)
    for (const Holder& holder : one.holders)
      patience = std::max(patience, holder.facts->kill_after.value_or(StopRules{}.kill_after) + kAfterKill);
  const TimePoint until = plus(started, longest_wait_.value_or(patience));
  TimePoint ask_at = started;
  while (!asked.empty()) {
    const bool again = session.now() >= ask_at;
    if (again) ask_at = plus(session.now(), kAskAgain);
    for (Asked& one : asked) {
      if (again) ask(session, one);
      const Inspection now = inspect(session, one.found.name, owner_);
      std::erase_if(one.holders, [&](const Holder& holder) { return !now.held_by(holder.owner); });
      if (one.holders.empty())
        info(fmt::format("the holder of {} has ended: {}", quoted(one.found.name), one.who));
    }
    std::erase_if(asked, [](const Asked& one) { return one.holders.empty(); });
    if (asked.empty() || session.now() >= until) break;
    const TimePoint next = earliest(until, plus(session.now(), kBetweenLooks));
    session.loop.wait({next, [&] { return session.signals.any(); }}, [] { return false; });
    session.check_signals();
  }
  return session.now() >= plus(started, patience);
}

/// Every key is inspected before the first holder is asked: if one holder cannot be asked, none is.
int Stop::act(TimePoint started, std::vector<std::string>) {
  Session session{server_};
  int exit = exit_code::ok;
  std::vector<Asked> asked;
  for (const LockName& name : session.names(keys_)) {
    Inspection found = inspect(session, name, owner_);
    expect_askable(found);
    std::vector<Holder> holders = holders_in(found);
    expect_listeners(found, holders);
    if (holders.empty()) {
      exit = not_held(found);
    } else {
      asked.push_back({std::move(found), std::move(holders)});
    }
  }
  const bool had_time = wait_for(session, asked, started);
  for (const Asked& one : asked)
    info(fmt::format("{} is still held by {} after {}; {}", quoted(one.found.name),
                     holders_text(one.holders, std::nullopt), describe(elapsed(started, session.now())),
                     had_time ? "to remove the lock by force: " + removal_of(one.found, one.holders)
                              : "to wait longer, call rlock stop again"));
  return asked.empty() ? exit : exit_code::busy;
}

}  // namespace

VerbRows stop_verbs() {
  static constexpr VerbEntry kRow{
      .name = "stop",
      .summary = "ask the holder of a lock to stop its command",
      .takes = takes::keys | takes::server,
      .exits =
          "0 the holder has ended, 1 KEY is free or has another owner, 75 the wait ended before, 65 rlock "
          "cannot ask this holder",
      .create = create<Stop>,
      .errors = kErrorsOfServer};
  return {&kRow, 1};
}

}  // namespace rlock
