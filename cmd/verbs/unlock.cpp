// rlock unlock: remove a lock by force, having said what that means.

#include <fmt/format.h>

#include <algorithm>

#include "base/identity.h"
#include "base/key_text.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/ask/survey.h"
#include "cmd/cli/confirm.h"
#include "cmd/cli/exit_code.h"
#include "cmd/run/hold_options.h"
#include "cmd/server/owner_option.h"
#include "cmd/verbs/found_lock.h"
#include "cmd/verbs/verbs.h"
#include "cmd/view/history_text.h"
#include "cmd/view/holder_text.h"
#include "cmd/view/inspection.h"
#include "sync/kinds/answers.h"
#include "sync/kinds/keys.h"
#include "sync/kinds/pool.h"
#include "sync/watch/holder_messages.h"
#include "sync/watch/kind_actions.h"

namespace rlock {
namespace {

/// So much of a plain lock's token is read. One that fills it may go on, and is not known in full.
constexpr std::size_t kReadOfToken = 1000;

/// What became of one key.
struct Removal {
  LockName name;
  std::string_view outcome;     ///< removed, free, other-owner, declined or refused
  std::vector<Owner> owners{};  ///< whose holds were removed; of other-owner, who has it
  std::optional<std::string> error{};

  int exit_code() const {
    if (outcome == "removed") return exit_code::ok;
    return outcome == "refused" ? exit_code::wrong_type : exit_code::no;
  }
};

class Unlock final : public Verb {
 public:
  void declare(VerbSpec& spec) override;
  int act(TimePoint started, std::vector<std::string> command) override;

 private:
  void expect_removable(const Inspection& found) const;
  bool meant(const Holder& holder) const;
  Removal nothing_to_remove(const Inspection& found) const;
  bool confirmed(const Views& views, const Inspection& found) const;
  Owner whose(const Session& session, const Inspection& found) const;
  std::vector<Call> followers(const Session& session, const Inspection& found, const Holder& holder,
                              TimePoint looked) const;
  void write_removal(Session& session, const Inspection& found, const Owner& owner, TimePoint looked) const;
  Forced force_permits(Session& session, const Inspection& found, TimePoint looked) const;
  Forced force(Session& session, const Inspection& found, const Owner& owner, TimePoint looked) const;
  Removal remove(Session& session, const LockName& name) const;
  void say(const Removal& removal) const;

  std::string type_, reason_;
  std::optional<Owner> owner_;
  bool yes_ = false;
  bool json_ = false;
};

void Unlock::declare(VerbSpec& spec) {
  spec.about =
      "Remove a lock by force, and wake up its waiters. rlock prints the holder and whether\nit is alive, "
      "and asks you. A live holder gets a message and stops its command at\nonce; if it has held the lock "
      "for less than a second, at its next renewal.";
  spec.examples = {{"rlock unlock deploy", ""}, {"rlock unlock --yes --if-owner \"$owner\" deploy", ""}};
  spec.group("What to remove");
  spec.add(
      {.names = "--if-owner",
       .value = "ID",
       .help = "remove the lock only if this owner holds it",
       .manual =
           "ID is an owner id, or the id of a permit. For a pool of permits the option is required: an owner id "
           "releases all permits of that owner, and a permit id releases one. rlock inspect -v prints both ids.",
       .offer = Offer::owner,
       .set = [this](std::string_view text) { owner_ = parse_owner(text); }});
  spec.add(
      {.names = "--type",
       .value = "T",
       .help = "exit with status 65 if KEY has another type",
       .manual =
           "If KEY is a text without notes of rlock, it may be anything: rlock removes it only with --type plain.",
       .offer = Offer::choices,
       .choices = lock_type_names(),
       .set = choice(type_, lock_type_names())});
  spec.add({.names = "-y, --yes", .help = "do not ask", .set = into(yes_)});
  for (const std::string_view name : {"-f", "--force"})
    spec.foreign.push_back({name, "that is what it does; --yes keeps it from asking"});
  spec.group("Reports");
  spec.add({.names = "--reason",
            .value = "TEXT",
            .help = "tell the holder and rlock history why",
            .manual = "TEXT has at most 1024 bytes.",
            .set = reason_into(reason_)});
  spec.add({.names = "--json", .help = "print a JSON document", .set = into(json_)});
}

/// Is it a pool of permits, which are held one by one?
bool is_pool(const Inspection& found) { return found.kind == &kinds::permit; }

/// By its owner, or by the id of its permit.
bool Unlock::meant(const Holder& holder) const {
  if (!owner_ || holder.owner == *owner_) return true;
  return !holder.permit.empty() && to_hex(holder.permit) == owner_->str();
}

/// Is it a lock? A text of which rlock has written nothing down may be anything.
void Unlock::expect_removable(const Inspection& found) const {
  // A pool of which nobody has a permit looks like a semaphore.
  const bool may_be_pool = found.kind != nullptr && &found.kind->plainest() == &kinds::permit.plainest();
  if (may_be_pool && owner_ && type_.empty()) return;
  expect_lock(found, type_.empty() && is_pool(found) ? kinds::permit.name : type_);
  if (is_pool(found) && !owner_ && !found.holders.empty())
    throw Error{Error::wrong_type,
                fmt::format("{} holds {}: name the owner or the permit by --if-owner ID; rlock inspect -v {} "
                            "shows the ids",
                            quoted(found.name), found.kind->noun, words_for(found.name))};
  const bool known = found.kind != &kinds::plain || found.holders.front().meta;
  if (known || type_ == "plain") return;
  throw Error{
      Error::wrong_type,
      fmt::format(
          "{} is a text without notes of rlock, so it can be anything; if it is the token of a plain lock: "
          "rlock unlock --type plain {}",
          quoted(found.name), words_for(found.name))};
}

/// What a person must know before removing what this one holds.
std::string warning(const Holder& holder, Milliseconds now) {
  if (holder.meta && holder.meta->ended_at)
    return fmt::format("no command runs any more: {} keeps the key", holder.meta->kept_by.empty()
                                                                         ? "--min-hold or --once-per"
                                                                         : sanitized(holder.meta->kept_by));
  if (holder.meta && !holder.meta->renews)
    return "no process renews it; it is unknown whether the script that acquired it still runs";
  const auto alive = holder.alive(now);
  if (!alive)
    return "cannot know whether the holder is alive; a live holder learns of this when it renews or releases";
  if (!*alive) return "the holder has not renewed it in time: it looks dead";
  const std::string_view better = holder.meta->kill_after ? "; rlock stop ends the command first" : "";
  return fmt::format(
      "the holder is alive, and its command runs until it hears of this, within {} at the latest{}",
      describe(std::max(holder.meta->lease / 3 - (now - holder.meta->renewed), Milliseconds{0})), better);
}

Removal Unlock::nothing_to_remove(const Inspection& found) const {
  if (!owner_ || (found.holders.empty() && found.state == Inspection::State::free)) {
    tell(quoted(found.name) + " is free");
    say_if_pattern(found.name);
    return {found.name, "free"};
  }
  tell(fmt::format("{} is not held by owner {}", quoted(found.name), in_quotes(owner_->str())));
  Removal removal{found.name, "other-owner"};
  for (const Holder& holder : found.holders) removal.owners.push_back(holder.owner);
  return removal;
}

bool Unlock::confirmed(const Views& views, const Inspection& found) const {
  print_on_stderr(inspections_text(views.seen));
  for (const std::string& server : views.silent) complain(server);
  std::size_t permits = 0;
  for (const Holder& holder : found.holders) {
    if (is_pool(found) && !meant(holder)) continue;
    complain(warning(holder, found.now));
    ++permits;
  }
  if (!is_pool(found)) return confirm(fmt::format("Remove the lock {}?", quoted(found.name)), yes_);
  return confirm(
      fmt::format("Give back {} of {}?", permits == 1 ? "this permit" : fmt::format("{} permits", permits),
                  quoted(found.name)),
      yes_);
}

/// Whose lock is to be removed: that of the owner who was shown, and not of another who took it while a
/// person thought. Empty: of any owner, where several were shown, or not in full.
Owner Unlock::whose(const Session& session, const Inspection& found) const {
  if (owner_) return *owner_;
  if (session.redis.nodes() > 1 || found.holders.size() > 1) return Owner{};
  const Owner& shown = found.holders.front().owner;
  return shown.str().size() < kReadOfToken ? shown : Owner{};
}

/// What goes with the removal: the holder is told, its facts go, and the history of the key says who did it.
std::vector<Call> Unlock::followers(const Session& session, const Inspection& found, const Holder& holder,
                                    TimePoint looked) const {
  const std::string who = fmt::format("{}@{}", user_name(), host_name());
  const Evidence evidence{is_pool(found) ? permit_slots_key(found.name) : found.name.str(),
                          holder.owner.str()};
  if (!holder.meta || !session.deployment.history)
    return {tell_holder(found.name, holder.owner, removal_notice(who, reason_)),
            erase_metadata(found.name, holder.owner, evidence)};
  const PastHold past = past_of(found, holder, looked, {.outcome = "removed", .why = by_whom(who, reason_)});
  return {write_end(found.name, holder.owner, evidence, past, WriteEnd::if_it_ended),
          tell_holder(found.name, holder.owner, removal_notice(who, reason_))};
}

/// The history of holders of which rlock knows nothing but the owner, such as Redisson's: nobody else will write
/// it. Behind the answer, since nothing in the key tells whether their hold ended by this or a moment before.
void Unlock::write_removal(Session& session, const Inspection& found, const Owner& owner,
                           TimePoint looked) const {
  if (!session.deployment.history) return;
  const std::string who = fmt::format("{}@{}", user_name(), host_name());
  for (const Holder& holder : found.holders) {
    if (holder.meta || !meant(holder) || (!owner.empty() && holder.owner != owner)) continue;
    const PastHold past =
        past_of(found, holder, looked, {.outcome = "removed", .why = by_whom(who, reason_)});
    static_cast<void>(session.any_answers(
        write_end(found.name, holder.owner, {found.name.str(), holder.owner.str()}, past, WriteEnd::always)));
  }
}

Forced Unlock::force_permits(Session& session, const Inspection& found, TimePoint looked) const {
  std::vector<std::string> ids;
  Delivery delivery = persistently();
  for (const Holder& holder : found.holders) {
    if (!meant(holder)) continue;
    ids.push_back(holder.permit);
    std::ranges::move(followers(session, found, holder, looked), std::back_inserter(delivery.followers));
  }
  const Pool pool{found.name, PoolKind::permits, session.deployment.pub_sub()};
  const Pool::ReleasedIds released = pool.read_release(session.ask(pool.release(ids), delivery));
  const bool any = std::ranges::count(released.taken, true) > 0;
  return {.how = any ? Forced::How::removed : Forced::How::nothing_there,
          .unannounced = released.unannounced};
}

Forced Unlock::force(Session& session, const Inspection& found, const Owner& owner, TimePoint looked) const {
  if (is_pool(found)) return force_permits(session, found, looked);
  // What is no lock is refused by the script for locks, in the server's words about it.
  const bool is_lock = actions_of(*found.kind).force != nullptr;
  const Kind& kind = is_lock ? *found.kind : kinds::lock;
  const Call call = actions_of(kind).force(found.name, owner, session.deployment.pub_sub());
  Delivery delivery = persistently();
  // What is refused below has no removal that could be told of.
  for (const Holder& holder : is_lock ? found.holders : std::vector<Holder>{})
    if (owner.empty() || holder.owner == owner)
      std::ranges::move(followers(session, found, holder, looked), std::back_inserter(delivery.followers));
  // One of several servers that removed it is enough to say so. If none did, they all have the same reason.
  Forced forced{.how = Forced::How::nothing_there};
  for (const Reply& reply : session.ask_all(call, delivery)) {
    Forced one = decode_forced(found.name, kind.plainest().noun, reply);
    const bool better = forced.how == Forced::How::nothing_there || one.how == Forced::How::removed;
    if (better) forced = std::move(one);
  }
  return forced;
}

Removal Unlock::remove(Session& session, const LockName& name) const {
  const TimePoint looked = session.loop.now();
  const Views views = inspect_each(session, name);
  const Inspection& found = agreed(views.seen, owner_);
  expect_removable(found);
  if (std::ranges::none_of(found.holders, [&](const Holder& holder) { return meant(holder); }))
    return nothing_to_remove(found);
  if (!confirmed(views, found)) return {name, "declined"};

  const Owner owner = is_pool(found) ? Owner{} : whose(session, found);
  const Forced forced = force(session, found, owner, looked);
  switch (forced.how) {
    case Forced::How::removed: break;
    case Forced::How::nothing_there:
      tell(quoted(name) + (is_pool(found) ? ": this permit is free by now" : " is free by now"));
      return {name, "free"};
    case Forced::How::other_owner:
      tell(fmt::format("{} is held by {} by now", quoted(name), sanitized(forced.other)));
      return {name, "other-owner", {Owner{forced.other}}};
    case Forced::How::refused:
      complain(forced.refused.text);
      return {name, "refused", {}, forced.refused.text};
  }
  write_removal(session, found, owner, looked);
  if (!forced.unannounced.empty())
    complain(fmt::format("removed {}, but could not wake up its waiters: {}", quoted(name),
                         sanitized(forced.unannounced)));
  Removal removal{name, "removed"};
  for (const Holder& holder : found.holders)
    if (meant(holder) && (owner.empty() || holder.owner == owner)) removal.owners.push_back(holder.owner);
  return removal;
}

void Unlock::say(const Removal& removal) const {
  if (json_ || removal.outcome != "removed") return;
  std::vector<std::string> owners;
  for (const Owner& owner : removal.owners) owners.push_back(short_owner(owner));
  tell(fmt::format("removed {} ({})", quoted(removal.name), joined(owners, ", ")));
}

Json document_of(const std::vector<Removal>& removals) {
  std::vector<Json> keys;
  for (const Removal& removal : removals)
    keys.push_back(Json::object({{"key", removal.name},
                                 {"name", typed(removal.name)},
                                 {"outcome", Json::word(removal.outcome)},
                                 {"owners", Json::list(removal.owners)},
                                 {"error", removal.error}}));
  return Json::object({{"v", 1}, {"keys", Json::array(keys)}});
}

int Unlock::act(TimePoint, std::vector<std::string>) {
  Session session{server_};
  std::vector<LockName> names;
  for (const std::string& key : keys_) {
    const LockName name = session.name(key);
    if (std::ranges::count(names, name) == 0) names.push_back(name);
  }
  // Where one of them is no lock, none is removed.
  if (names.size() > 1)
    for (const LockName& name : names) expect_removable(agreed(inspect_each(session, name).seen, owner_));

  std::vector<Removal> removals;
  int exit = exit_code::ok;
  for (const LockName& name : names) {
    removals.push_back(remove(session, name));
    say(removals.back());
    exit = std::max(exit, removals.back().exit_code());
  }
  if (json_) print_line(document_of(removals).str());
  return exit;
}

constexpr VerbEntry kRow{
    "unlock",
    "remove a lock by force",
    takes::keys | takes::server,
    "0 removed, 1 KEY is free, has another owner, or you answered no",
    create<Unlock>,
    "64 usage (also without a terminal and --yes), 65 other type, 69 no server, 77 78 errors"};

}  // namespace

VerbRows unlock_verbs() { return {&kRow, 1}; }

}  // namespace rlock
