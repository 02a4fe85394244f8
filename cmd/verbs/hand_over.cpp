#include "cmd/verbs/hand_over.h"

#include <fmt/format.h>

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

HoldReport::Released released_of(Undone undone) {
  switch (undone) {
    case Undone::all: return HoldReport::Released::yes;
    case Undone::nothing: return HoldReport::Released::no;
    case Undone::unconfirmed: break;
  }
  return HoldReport::Released::unknown;
}

/// For people: "'deploy' was released".
std::string text_of(Undone undone, const HeldKeys& held) {
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

Undone undo_acquire(Session& session, std::span<const Part> parts) {
  Patience patience = session.loop.within(cleanup_time(parts.size()));
  patience.interrupted = [&] { return session.signals.insisted(); };
  return undo(session.redis, parts, patience);
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
                    undone == Undone::unconfirmed ? "; " + text_of(undone, keys) : "")};
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
  } catch (const Error& error) {  // adds what became of the keys
    const Undone undone = undo_acquire(session, keys.parts());
    const std::string why = fmt::format("{}; {}", error.what(), text_of(undone, keys));
    if (!session.signals.drain_any()) {
      report_failed(report, error);
      report.released = released_of(undone);
      events.ended(report);
      throw Error{error.kind(), why};
    }
    warn(why);
    events.ended(HoldOutcome::interrupted, elapsed(keys.acquired().asked, session.loop.now()),
                 released_of(undone));
    throw EndedBySignal{*session.signals.ended()};
  }
  events = {};  // the hold goes on without this process
  session.redis.await_followers(session.patience());
}

}  // namespace rlock
