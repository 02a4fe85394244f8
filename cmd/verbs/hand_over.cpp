#include "cmd/verbs/hand_over.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/key_text.h"
#include "base/text.h"
#include "cmd/cli/output.h"
#include "cmd/run/inherited_hold.h"
#include "cmd/run/script_keeper.h"

namespace rlock {
namespace {

/// Of permits; null: the type has none.
Json slots_json(const Held& held) {
  std::vector<Json> slots{held.slots.begin(), held.slots.end()};
  return held.permits.empty() ? Json{} : Json::array(slots);
}

std::string document(const HoldRequest& opt, const HeldKeys& keys, const Owner& id) {
  const Held& held = keys.taken().held.front();
  const Milliseconds waited = elapsed(opt.started, keys.taken().asked);
  const bool one = opt.names.size() == 1;
  std::vector<std::pair<std::string_view, Json>> fields{
      {"v", 1},
      {"key", one ? Json{opt.names.front()} : Json{}},
      {"name", one ? Json{typed(opt.names.front())} : Json{}},
      {"type", Json::word(opt.type->name)},
      {"owner", Json::word(id.str())},
      {"fence", one ? Json{held.fence} : Json{}},
      {"slots", slots_json(held)},
      {"lease_ms", opt.lease},
      {"acquired_at", held.server_time},
      {"waited_ms", waited},
      {"outcome", Json::word("held")}};
  if (!one) fields.emplace_back("keys", Json::keys(opt.names));
  return Json::object(fields).str();
}

/// RLOCK_STACK is for the runs inside, and RLOCK_OWNER for lock release and lock renew.
std::string exported(const HoldRequest& opt, const HeldKeys& keys, const Owner& id, Shell shell) {
  std::vector<std::string> names, fences;
  for (const LockName& name : opt.names) names.push_back(as_typed(name));
  for (const Held& held : keys.taken().held)
    if (held.fence) fences.push_back(std::to_string(*held.fence));
  std::vector<InheritedHold> stack = holds_above_us();
  std::ranges::copy(keys.holds(), std::back_inserter(stack));
  const std::optional<std::string> fence =
      fences.empty() ? std::nullopt : std::optional{joined(fences, "\n")};
  Variables variables{{"RLOCK_OWNER", id.str()},
                      {"RLOCK_FENCE", fence},
                      {"RLOCK_KEY", joined(names, "\n")},
                      {"RLOCK_STACK", write_holds(stack)}};
  std::vector<std::string> slots;
  for (const std::int64_t slot : keys.taken().held.front().slots) slots.push_back(std::to_string(slot));
  if (!slots.empty()) {
    variables.emplace_back("RLOCK_SLOT", slots.front());
    variables.emplace_back("RLOCK_SLOTS", joined(slots, "\n"));
  }
  return export_text(variables, shell);
}

/// Undoes what this call has taken, and nothing that the owner had before. False: there was nothing.
bool undo_acquire(Session& session, const HeldKeys& keys) {
  bool undone = false;
  for (const Part& part : keys.parts()) {
    const Votes votes =
        session.redis.run_all(*part.lock->undo(Wake::waiters), persistently(part.release_followers),
                              session.loop.within(kCleanupTime));
    for (const Vote& vote : votes) {
      if (!vote.reply) continue;
      const ReleaseAnswer answer = part.lock->read_release(*vote.reply);
      const auto* released = std::get_if<Released>(&answer);
      undone = undone || (released != nullptr && released->how != Released::How::was_not_ours);
    }
  }
  return undone;
}

void keep(Session& session, const HoldRequest& opt, const HeldKeys& keys, const Owner& id) {
  try {
    start_script_keeper(opt, keys, id);
  } catch (const Error& error) {  // adds what becomes of the lock
    undo_acquire(session, keys);
    throw Error{error.kind(), fmt::format("{}; {} was given back", error.what(), opt.all_keys())};
  }
}

}  // namespace

void hand_over(Session& session, const HoldRequest& opt, const HeldKeys& keys, const PrintedAs& how) {
  if (keys.joins() && !keys.joins_all()) {  // the owner that is printed has to be that of all keys
    undo_acquire(session, keys);
    throw Error{
        Error::usage,
        "a process above this one holds some of the keys, and not the others; take them one after the other"};
  }
  const Owner id = keys.joins() ? inner_hold_id(keys.owner()) : keys.owner();
  const std::string text = how.shell ? exported(opt, keys, id, *how.shell)
                                     : (how.json ? document(opt, keys, id) : id.str()) + "\n";
  if (const int failed = try_print(text)) {
    const bool undone = undo_acquire(session, keys);
    throw Error{Error::system,
                fmt::format("write error on stdout: {}; {} {}", std::strerror(failed), opt.all_keys(),
                            undone ? "was given back" : "stays held, as it was before")};
  }
  if (opt.script) keep(session, opt, keys, id);
  session.redis.await_followers(session.patience());
}

}  // namespace rlock
