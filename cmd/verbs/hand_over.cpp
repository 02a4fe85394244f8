#include "cmd/verbs/hand_over.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/key_text.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/cli/json.h"
#include "cmd/cli/output.h"
#include "cmd/hold/hold_end.h"
#include "cmd/hold/script_keeper.h"

namespace rlock {
namespace {

/// How long an undo waits for the other servers after a quorum has answered.
constexpr Milliseconds kUndoGrace{200};

std::string document(const HeldKeys& keys) {
  const HoldRequest& request = keys.request();
  const Held& held = keys.acquired().held.front();
  const Milliseconds waited = elapsed(request.started, keys.acquired().asked);
  const bool one = request.names.size() == 1;
  std::vector<std::pair<std::string_view, Json>> fields{
      {"v", 1},
      {"key", one ? Json{request.names.front()} : Json{}},
      {"name", one ? Json{typed(request.names.front())} : Json{}},
      {"type", Json::word(request.type->name)},
      {"owner", Json::word(keys.id().str())},
      {"fence", one ? Json{held.fence} : Json{}},
      {"slots", held.permits.empty() ? Json{} : Json::list(held.slots)},
      {"lease_ms", request.lease},
      {"acquired_at", held.server_time},
      {"waited_ms", waited},
      {"outcome", Json::word("held")}};
  if (!one) fields.emplace_back("keys", Json::keys(request.names));
  return Json::object(fields).str();
}

/// What became of the keys, for people: "'deploy' was released".
std::string fate(Undone undone, const HeldKeys& held) {
  const std::string keys = held.request().all_keys();
  switch (undone) {
    case Undone::all: return keys + " was released";
    case Undone::nothing: return keys + " stays held, as it was before";
    case Undone::unconfirmed: break;
  }
  return fmt::format("release of {} not confirmed; it {}", keys,
                     unconfirmed_end(held.expires_within(held.parts().front())));
}

}  // namespace

Undone undo_acquire(Session& session, const std::vector<Part>& parts) {
  Patience patience = session.loop.within(cleanup_time(parts.size()));
  patience.interrupted = [&] { return session.signals.insisted(); };
  std::vector<Redis::Request> requests;
  std::vector<Call> calls;
  for (const Part& part : parts) {
    calls.push_back(*part.lock->undo(Wake::waiters));
    requests.push_back(session.redis.post(calls.back(), for_undo(part.release_followers), patience.until));
    std::ranges::copy(part.release_followers, std::back_inserter(calls));
  }
  session.redis.await(requests, kUndoGrace, patience);
  session.redis.send_on_abandoned(calls);

  bool undone = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::size_t confirmed = 0;
    for (const Vote& vote : requests[i].votes()) {
      if (!vote.reply()) continue;
      const ReleaseAnswer answer = parts[i].lock->read_release(*vote.reply());
      const auto* released = std::get_if<Released>(&answer);
      if (released != nullptr) ++confirmed;
      undone = undone || (released != nullptr && released->how != Released::How::was_not_ours);
    }
    if (confirmed < session.redis.quorum()) return Undone::unconfirmed;
  }
  return undone ? Undone::all : Undone::nothing;
}

int print_hold(Session& session, std::string_view text) {
  return try_print(text, {.until = kNever, .interrupted = [&] { return session.signals.drain_any(); }});
}

void hand_over(Session& session, const HeldKeys& keys, const PrintedAs& how, Events& events) {
  if (keys.joins() && !keys.joins_all()) {  // the printed owner must hold all keys
    const Undone undone = undo_acquire(session, keys.parts());
    throw Error{
        Error::usage,
        fmt::format("a process above this one holds some of the keys, and not the others; take them one "
                    "after the other{}",
                    undone == Undone::unconfirmed ? "; " + fate(undone, keys) : "")};
  }
  HoldReport report = report_of(keys.request());
  report_acquired(report, session.redis, keys.id(), keys.acquired(), keys.waited());
  events.acquired(report);
  const std::string text =
      how.shell ? export_text(keys, *how.shell) : (how.json ? document(keys) : keys.id().str()) + "\n";
  const auto print_it = [&] {
    if (const int failed = print_hold(session, text)) refuse_output(failed);
  };
  try {
    if (keys.request().script) {
      start_script_keeper(keys, events, print_it);
    } else {
      print_it();
    }
  } catch (const Error& error) {  // adds the fate of the lock
    const Undone undone = undo_acquire(session, keys.parts());
    const std::string why = fmt::format("{}; {}", error.what(), fate(undone, keys));
    if (!session.signals.drain_any()) {
      report_failed(report, error);
      report.released = undone == Undone::all ? HoldReport::Released::yes : HoldReport::Released::no;
      events.ended(report);
      throw Error{error.kind(), why};
    }
    warn(why);
    events.ended(HoldOutcome::interrupted, elapsed(keys.acquired().asked, session.loop.now()),
                 undone == Undone::all);
    throw EndedBySignal{*session.signals.ended()};
  }
  events = {};  // the hold goes on without this process
  session.redis.await_followers(session.patience());
}

}  // namespace rlock
