// rlock unlock: warns the user, then removes a lock by force. With several keys, act() first looks at all of them:
// if one may not be removed, none is. Then remove() handles one key after the other, in these steps:
//
//   look again     The removal of an earlier key ends its run, which then releases this key, too. Another client may
//                  have it by now, and the user has never seen that hold.
//   warn and ask   The user sees this look. If it has one holder, whose() takes the owner from it, and only a hold of
//                  this owner is removed. The reason: another client may acquire the lock while the user thinks.
//   remove         Notices and records of holds with metadata travel behind the removal (ForcedRemoval).
//   write_history  Only after a removal, and only for holds without metadata. Such a key does not show whether the
//                  hold had ended before.

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/key_text.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/ask/inspector.h"
#include "cmd/ask/unannounced.h"
#include "cmd/cli/confirm.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/json.h"
#include "cmd/cli/output.h"
#include "cmd/hold/request/hold_options.h"
#include "cmd/server/key_options.h"
#include "cmd/verbs/forced_removal.h"
#include "cmd/verbs/found_lock.h"
#include "cmd/verbs/verbs.h"
#include "cmd/view/holder_text.h"
#include "cmd/view/inspection_text.h"
#include "sync/calls/renewal_interval.h"

namespace rlock {
namespace {

/// rlock reads at most this many bytes of a plain lock's token. If it has read that many, there may be more, so the
/// token is not fully known.
constexpr std::size_t kReadOfToken = 1000;

/// The result for one key.
struct Removal {
  enum class Outcome { removed, free, other_owner, declined, refused };

  LockName name;
  Outcome outcome;
  std::vector<Owner> owners{};  ///< the owners of the removed holds; for other-owner, the holders
  std::optional<std::string> error{};

  int exit_code() const {
    if (outcome == Outcome::removed) return exit_code::ok;
    return outcome == Outcome::refused ? exit_code::wrong_type : exit_code::no;
  }

  /// Its name in JSON.
  std::string_view outcome_text() const {
    switch (outcome) {
      case Outcome::removed: return "removed";
      case Outcome::free: return "free";
      case Outcome::other_owner: return "other-owner";
      case Outcome::declined: return "declined";
      case Outcome::refused: return "refused";
    }
    return {};
  }
};

class Unlock final : public Verb {
 public:
  void declare(VerbSpec& spec) override;
  int act(TimePoint started, std::vector<std::string> command) override;

 private:
  std::optional<Removal> refusal(const Inspection& found) const;
  Removal nothing_to_remove(const Inspection& found) const;
  bool confirmed(const Views& views, const Inspection& found) const;
  Owner whose(const Session& session, const Inspection& found) const;
  Removal remove(Session& session, const LockName& name, const Inspection* first) const;

  std::string type_, reason_;
  std::optional<Owner> owner_;
  bool yes_ = false;
};

void Unlock::declare(VerbSpec& spec) {
  spec.about =
      "Remove a lock by force, and wake up its waiters. rlock prints the holder and whether it is alive, "
      "and asks you. A live holder gets a message and stops its command within a second; until then the "
      "command may run beside the next holder.";
  spec.examples = {{"rlock unlock deploy", ""}, {"rlock unlock --yes --if-owner \"$owner\" deploy", ""}};
  spec.group("What to remove");
  declare_owner(
      spec, owner_, "remove only the hold of this owner",
      "ID is an owner id, or the id of a permit. For a pool of permits the option is required: an owner id "
      "releases all permits of that owner, and a permit id releases one. rlock inspect -v prints both ids.",
      "--if-owner");
  declare_expected_type(
      spec, type_,
      "Here rlock does not tell lock, fair, fenced and spin apart, nor read and write. If the value of KEY is a text, and rlock has stored no notes about "
      "it, rlock cannot know whether KEY is a plain lock. To remove it, give --type plain.");
  spec.add({.names = "-y, --yes", .help = "do not ask", .set = into(yes_)});
  for (const std::string_view name : {"-f", "--force"})
    spec.other_tools.push_back({name, "unlock always removes by force; with --yes it does not ask"});
  spec.group("Reports");
  declare_reason(spec, reason_, "tell the holder TEXT; rlock history prints it, too");
}

/// The result for a key that may not be removed; empty: it may. A string without metadata of rlock may be anything.
std::optional<Removal> Unlock::refusal(const Inspection& found) const {
  try {
    expect_lock(found, type_.empty() && found.is_pool() ? kinds::permit.name : type_, owner_);
    expect_named(found, owner_, "the owner or the permit");
    // Of all types, only plain agrees with a text.
    if (!found.unknown_text() || !type_.empty()) return std::nullopt;
    throw Error{
        Error::wrong_type,
        fmt::format(
            "{} is a text without notes of rlock, so it can be anything; if it is the token of a plain "
            "lock: rlock unlock --type plain {}",
            quoted(found.name), words_for(found.name))};
  } catch (const Error& error) {
    if (error.kind() != Error::wrong_type) throw;
    warn(error.what());  // a refusal is the result of this key; the others are looked at nevertheless
    return Removal{found.name, Removal::Outcome::refused, {}, error.what()};
  }
}

/// What the user must know before removing this hold.
std::string warning(const Holder& holder, ServerTime now) {
  const Metadata facts = holder.facts.value_or(Metadata{});
  if (facts.ended_at) return fmt::format("no command runs any more: {} keeps the key", kept_by_text(facts));
  if (!facts.renews && facts.kill_after)
    return fmt::format(
        "the holder does not renew it (--no-renew); if its command still runs, it hears of this within {} at the "
        "latest; rlock stop ends the command first",
        describe(renewal_interval(facts.lease)));
  if (!facts.renews)
    return fmt::format("{}, and rlock cannot know whether the script that acquired it still runs",
                       holder.entered(now) ? "a run inside it may renew it" : "no process renews it");
  const auto alive = holder.alive(now);
  if (!alive)
    return "cannot know whether the holder is alive; a live holder learns of this when it renews or releases";
  if (!*alive) return "the holder has not renewed it in time: it looks dead";
  const std::string_view better = facts.kill_after ? "; rlock stop ends the command first" : "";
  return fmt::format(
      "the holder is alive, and its command runs until it hears of this, within {} at the latest{}",
      describe(std::max(renewal_interval(facts.lease) - (now - facts.renewed), Milliseconds{0})), better);
}

Removal Unlock::nothing_to_remove(const Inspection& found) const {
  if (!owner_ || (found.holders.empty() && found.state == Inspection::State::free)) {
    info(quoted(found.name) + " is free");
    say_if_pattern(found.name);
    return {found.name, Removal::Outcome::free};
  }
  info(not_held_by(*owner_, found));
  Removal removal{found.name, Removal::Outcome::other_owner};
  for (const Holder& holder : found.holders) removal.owners.push_back(holder.owner);
  return removal;
}

bool Unlock::confirmed(const Views& views, const Inspection& found) const {
  print_on_stderr(inspections_text(views.seen));
  for (const std::string& server : views.silent) warn(server);
  const auto meant =
      std::ranges::count_if(found.holders, [&](const Holder& holder) { return is_meant(holder, owner_); });
  for (const Holder& holder : found.holders)
    if (is_meant(holder, owner_)) warn(warning(holder, found.now));
  if (yes_) return true;
  const std::string name = quoted(found.name);
  if (found.is_pool())
    return confirm(
        fmt::format("Release {} of {}?", meant == 1 ? "this permit" : counted(meant, "permit"), name));
  const bool others_stay = std::cmp_less(meant, found.holders.size());
  return confirm((others_stay ? "Remove this hold of " : "Remove the lock ") + name + "?");
}

/// The owner whose hold is removed from a lock: the one that was shown. So another owner that acquires the lock
/// meanwhile keeps it. Empty: any owner, because there are several holders or servers, or the owner is not fully known.
Owner Unlock::whose(const Session& session, const Inspection& found) const {
  if (found.is_pool()) return Owner{};
  if (owner_) return *owner_;
  if (session.redis.nodes() > 1 || found.holders.size() > 1) return Owner{};
  const Owner& shown = found.holders.front().owner;
  return shown.str().size() < kReadOfToken ? shown : Owner{};
}

Removal taken_by(const LockName& name, const Owner& other) {
  info(fmt::format("{} is held by {} by now", quoted(name), sanitized(other.str())));
  return {name, Removal::Outcome::other_owner, {other}};
}

/// `first`: what was found here before the first of several keys was removed; null: there is one key. The removal of
/// one key ends its run, which then releases its other keys. If another holder has such a key by now, it stays.
Removal Unlock::remove(Session& session, const LockName& name, const Inspection* first) const {
  const TimePoint looked = session.now();
  const Views views = inspect_each(session, name, owner_);
  const Inspection& found = agreed(views.seen, owner_);
  if (auto refused = refusal(found)) return *std::move(refused);
  if (std::ranges::none_of(found.holders, [&](const Holder& holder) { return is_meant(holder, owner_); }))
    return nothing_to_remove(found);
  if (first != nullptr && !owner_ &&
      first->unnamed == 0)  // else a holder may be new to us, and not to the key
    for (const Holder& holder : found.holders)
      if (!first->held_by(holder.owner)) return taken_by(name, holder.owner);
  if (!confirmed(views, found)) {
    info("not removed: " + quoted(name));
    return {name, Removal::Outcome::declined};
  }

  const ForcedRemoval removal{session, found, looked, owner_, whose(session, found), reason_};
  const Forced forced = removal.remove();
  switch (forced.how) {
    case Forced::How::removed: break;
    case Forced::How::nothing_there:
      info(quoted(name) + (found.is_pool() ? ": this permit is free by now" : " is free by now"));
      return {name, Removal::Outcome::free};
    case Forced::How::other_owner: return taken_by(name, Owner{forced.other});
    case Forced::How::refused:
      warn(forced.refused.text);
      return {name, Removal::Outcome::refused, {}, forced.refused.text};
  }
  removal.write_history();
  say_unannounced("removed " + quoted(name), forced.unannounced);
  if (!json_) info(fmt::format("removed {} ({})", quoted(name), joined(removal.owners(), ", ", short_owner)));
  return {name, Removal::Outcome::removed, removal.owners()};
}

Json removal_json(const Removal& removal) {
  return Json::object({{"key", removal.name},
                       {"name", typed(removal.name)},
                       {"outcome", Json::word(removal.outcome_text())},
                       {"owners", Json::list(removal.owners)},
                       {"error", removal.error}});
}

int Unlock::act(TimePoint, std::vector<std::string>) {
  Session session{server_};
  const std::vector<LockName> names = session.names(keys_);
  // If one of the keys is no lock, none is removed.
  std::vector<Inspection> first;
  std::vector<Removal> removals;
  for (std::size_t i = 0; names.size() > 1 && i < names.size() && removals.empty(); ++i) {
    first.push_back(agreed(inspect_each(session, names[i], owner_).seen, owner_));
    if (auto refused = refusal(first.back())) removals.push_back(*std::move(refused));
  }
  if (removals.empty())
    for (std::size_t i = 0; i < names.size(); ++i)
      removals.push_back(remove(session, names[i], first.empty() ? nullptr : &first[i]));
  if (json_) print_line(Json::document({{"keys", Json::list(removals, removal_json)}}).str());
  return std::ranges::max(removals | std::views::transform(&Removal::exit_code));
}

}  // namespace

VerbRows unlock_verbs() {
  static constexpr VerbEntry kRow{.name = "unlock",
                                  .summary = "remove a lock by force",
                                  .takes = takes::keys | takes::server | takes::json,
                                  .exits = "0 removed, 1 KEY is free, has another owner, or you answered no",
                                  .create = create<Unlock>,
                                  .errors = kErrorsIfAsking};
  return {&kRow, 1};
}

}  // namespace rlock
