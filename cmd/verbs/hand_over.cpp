#include "cmd/verbs/hand_over.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "base/key_text.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/cli/json.h"
#include "cmd/cli/output.h"
#include "cmd/hold/keep/script_keeper.h"
#include "cmd/hold/report/hold_end.h"

namespace rlock {
namespace {

std::string document(const HeldKeys& keys) {
  const HoldRequest& request = keys.request();
  const Held& held = keys.acquired().held.front();
  const Milliseconds waited = elapsed(request.started, keys.acquired().asked);
  const bool one = request.names.size() == 1;
  Json::Fields fields{{"key", one ? Json{request.names.front()} : Json{}},
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
  return Json::document(std::move(fields)).str();
}

bool any(const std::vector<Undone>& undone, Undone wanted) { return std::ranges::count(undone, wanted) > 0; }

/// For people: "'d' was released; 'a', 'b' stay held, as they were before".
std::string text_of(const std::vector<Undone>& undone, const HeldKeys& held) {
  std::vector<std::string> texts;
  const auto add = [&](Undone wanted, std::string_view before, std::string_view behind_one,
                       std::string_view behind_several) {
    std::vector<LockName> keys;
    for (std::size_t i = 0; i < undone.size(); ++i)
      if (undone[i] == wanted) keys.push_back(held.parts()[i].lock->name());
    if (keys.empty()) return;
    texts.push_back(
        fmt::format("{}{}{}", before, quoted(keys), keys.size() == 1 ? behind_one : behind_several));
  };
  const std::string end = unconfirmed_end(held.expires_within(held.parts().front()));
  add(Undone::freed, "", " was released", " were released");
  add(Undone::one_hold, "the new hold of ", " was released", " was released");
  add(Undone::nothing, "", " stays held, as it was before", " stay held, as they were before");
  add(Undone::unconfirmed, "release of ", " not confirmed; it " + end, " not confirmed; each " + end);
  return joined(texts, "; ");
}

}  // namespace

std::vector<Undone> undo_acquire(Session& session, std::span<const Part> parts) {
  Patience patience = session.loop.within(cleanup_time(parts.size()));
  patience.interrupted = [&] { return session.signals.insisted(); };
  return undo_parts(session.redis, parts, patience);
}

int print_hold(Session& session, std::string_view text) {
  return try_print(text, {.until = kNever, .interrupted = [&] { return session.signals.drain_any(); }});
}

void hand_over(Session& session, const HeldKeys& keys, const PrintedAs& how, Events& events) {
  if (keys.joins() && !keys.joins_all()) {  // the printed owner must hold all keys
    const std::vector<Undone> undone = undo_acquire(session, keys.parts());
    throw Error{
        Error::usage,
        fmt::format("a process above this one holds some of the keys, and not the others; take them one "
                    "after the other{}",
                    any(undone, Undone::unconfirmed) ? "; " + text_of(undone, keys) : "")};
  }
  HoldReport report = report_of(keys.request());
  report_acquired(report, session.redis, keys.id(), keys.acquired(), keys.waited());
  events.acquired(report);
  const std::string text =
      how.shell ? export_text(keys, *how.shell) : (how.json ? document(keys) : keys.id().str()) + "\n";
  int failed = 0;
  const auto print_it = [&] {
    failed = print_hold(session, text);
    if (failed != 0) refuse_output(failed);
  };
  try {
    if (keys.request().script) {
      start_script_keeper(keys, events, print_it);
    } else {
      print_it();
    }
  } catch (const Error& error) {  // adds what became of the keys
    const std::vector<Undone> undone = undo_acquire(session, keys.parts());
    const std::string why = fmt::format("{}; {}", error.what(), text_of(undone, keys));
    if (!session.signals.drain_any()) {
      report_failed(report, error);
      report.released = released_of(undone);
      events.ended(report);
      throw Error{error.kind(), why};
    }
    warn(failed == EINTR ? text_of(undone, keys) : why);
    events.ended(HoldOutcome::interrupted, elapsed(keys.acquired().asked, session.now()),
                 released_of(undone));
    throw EndedBySignal{*session.signals.ended()};
  }
  events = {};  // the hold goes on without this process
  session.redis.await_followers(session.patience());
}

}  // namespace rlock
