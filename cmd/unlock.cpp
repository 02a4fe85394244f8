// rlock unlock: remove a lock by force, having said what that means.

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "cmd/exit_code.h"
#include "cmd/found_lock.h"
#include "cmd/inspection.h"
#include "cmd/owner_option.h"
#include "cmd/terminal.h"
#include "cmd/verbs.h"
#include "sync/lock.h"
#include "sync/plain.h"
#include "sync/read_write.h"

namespace rlock {
namespace {

using Type = Inspection::Type;

/// So much of a plain lock's token is read. One that fills it may go on, and is not known in full.
constexpr std::size_t kReadOfToken = 1000;

class Unlock final : public Verb {
 public:
  Declaration declare() override;
  int act(TimePoint started, std::vector<std::string> command) override;

 private:
  int nothing_to_remove(const Inspection& found) const;
  bool confirmed(const Views& views, const Inspection& found) const;
  Owner whose(const Session& session, const Inspection& found) const;
  Forced force(Session& session, const Inspection& found) const;

  std::string key_;
  std::optional<Owner> owner_;
  bool yes_ = false;
  ServerOptions server_;
};

Declaration Unlock::declare() {
  Declaration told{
      .verb = "unlock",
      .usage = {"unlock [OPTIONS] KEY"},
      .about =
          "Remove a lock whoever holds it, and wake who waits. Says what it removes and\n"
          "whether the holder lives, and asks. A live one learns of it when it renews.",
      .notes =
          "Exit status: 0 removed, 1 nothing there, another owner, or answered no;\n"
          "64 usage (also: no terminal to ask on, and no --yes), 65 other type, 69 77 78.",
      .examples = {{"rlock unlock deploy", ""}, {"rlock unlock --yes --if-owner \"$owner\" deploy", ""}},
  };
  declare_key(told, key_);
  told.group("Guards");
  told.add({.names = "--if-owner",
            .value = "ID",
            .help = "only if this one holds it",
            .offer = Offer::owner,
            .set = [this](std::string_view text) { owner_ = parse_owner(text); }});
  told.add({.names = "-y, --yes", .help = "do not ask", .set = into(yes_)});
  for (const std::string_view name : {"-f", "--force"})
    told.foreign.push_back({name, "that is what it does; --yes keeps it from asking"});
  declare_server_options(told, server_);
  return told;
}

/// What a person must know before removing what this one holds.
std::string warning(const Holder& holder, Milliseconds now) {
  if (holder.meta && holder.meta->ended_at) return "nothing runs under it any more: --min-hold keeps the key";
  if (holder.meta && !holder.meta->renews)
    return "nobody renews it; whether the script that took it still works nobody knows";
  const auto alive = holder.alive(now);
  if (!alive)
    return "whether its holder lives nobody knows; if it does, it learns of this when it renews or releases";
  if (!*alive) return "its holder has not renewed in time: it seems dead";
  return fmt::format(
      "its holder is alive, and works on until its next renewal, within {}",
      describe(std::max(holder.meta->lease / 3 - (now - holder.meta->renewed), Milliseconds{0})));
}

int Unlock::nothing_to_remove(const Inspection& found) const {
  const std::string key = in_quotes(found.name.str());
  if (found.holders.empty()) {
    tell(fmt::format("{} is free", key));
  } else {
    tell(fmt::format("{} is not held by {}", key, sanitized(owner_->str())));
  }
  return exit_code::no;
}

bool Unlock::confirmed(const Views& views, const Inspection& found) const {
  print_on_stderr(inspections_text(views.seen));
  for (const std::string& server : views.silent) complain(server);
  for (const Holder& holder : found.holders) complain(warning(holder, found.now));
  if (yes_) return true;
  const std::string answer =
      ask_on_terminal(fmt::format("Remove the lock {}? [y/N] ", in_quotes(found.name.str())),
                      "there is no terminal to ask on; say --yes");
  return answer == "y" || answer == "Y" || answer == "yes";
}

/// The one whose lock is to be removed: who was shown, and not who has taken it while a person thought. Empty: whoever has it,
/// where several were shown, or not in full.
Owner Unlock::whose(const Session& session, const Inspection& found) const {
  if (owner_) return *owner_;
  if (session.redis.nodes() > 1 || found.holders.size() > 1) return Owner{};
  const Owner& shown = found.holders.front().owner;
  return shown.str().size() < kReadOfToken ? shown : Owner{};
}

Forced Unlock::force(Session& session, const Inspection& found) const {
  const Owner owner = whose(session, found);
  Call call;
  std::string_view wanted = "a lock";
  if (found.type == Type::plain) {
    call = PlainLock::force(found.name, owner);
    wanted = "a plain token lock";
  } else if (found.type == Type::read_write) {
    call = ReadWriteLock::force(found.name, owner, session.cluster());
    wanted = "a read/write lock";
  } else {
    call = Lock::force(found.name, owner, session.cluster());
  }
  for (const Holder& holder : found.holders)
    call.escort.push_back(erase_metadata(found.name, holder.owner, {found.name.str(), holder.owner.str()}));
  // It is removed where one of several servers has removed it; else each has the same reason not to.
  Forced forced{.how = Forced::How::nothing_there};
  for (const Reply& reply : session.ask_all(call)) {
    Forced one = read_forced(found.name, wanted, reply);
    const bool better = forced.how == Forced::How::nothing_there || one.how == Forced::How::removed;
    if (better) forced = std::move(one);
  }
  return forced;
}

int Unlock::act(TimePoint, std::vector<std::string>) {
  Session session{server_};
  const Views views = inspect_each(session, session.name(key_));
  const Inspection& found = agreed(views, owner_);
  expect_lock(found, "");
  if (found.holders.empty() || (owner_ && !holder_named(found, *owner_))) return nothing_to_remove(found);
  if (!confirmed(views, found)) return exit_code::no;

  const Forced forced = force(session, found);
  switch (forced.how) {
    case Forced::How::removed: break;
    case Forced::How::nothing_there:
      tell(fmt::format("{} is free by now", in_quotes(found.name.str())));
      return exit_code::no;
    case Forced::How::other_owner:
      tell(fmt::format("{} is held by {} by now", in_quotes(found.name.str()), sanitized(forced.other)));
      return exit_code::no;
    case Forced::How::refused: throw Error{Error::wrong_type, forced.refused.text};
  }
  if (!forced.unannounced.empty())
    complain(fmt::format("removed {}, but could not tell its waiters: {}", in_quotes(found.name.str()),
                         sanitized(forced.unannounced)));
  return exit_code::ok;
}

}  // namespace

std::unique_ptr<Verb> unlock_verb() { return std::make_unique<Unlock>(); }

}  // namespace rlock
