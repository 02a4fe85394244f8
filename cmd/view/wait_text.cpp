#include "cmd/view/wait_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/key_text.h"
#include "cmd/view/holder_text.h"

namespace rlock {
namespace {

std::string ordinal(std::int64_t number) {
  const auto tens = number % 100;
  const char* end = tens >= 11 && tens <= 13 ? "th"
                    : number % 10 == 1       ? "st"
                    : number % 10 == 2       ? "nd"
                    : number % 10 == 3       ? "rd"
                                             : "th";
  return fmt::format("{}{}", number, end);
}

/// The holders to name: those of a new inspection. Without one, the holder in the server's answer, or none.
std::vector<Holder> holders_of(const WaitView& view) {
  if (view.seen != nullptr) return view.seen->holders;
  if (view.busy.holder.empty()) return {};
  const Owner owner{view.busy.holder};
  if (view.seen_once != nullptr) {
    const auto& known = view.seen_once->holders;
    const auto found = std::ranges::find(known, owner, &Holder::owner);
    if (found != known.end()) return {*found};
  }
  return {{.owner = owner}};
}

/// The server's time, if it was just told.
std::optional<ServerTime> now_of(const WaitView& view) {
  return view.seen != nullptr ? std::optional{view.seen->now} : std::nullopt;
}

std::string text_of(const WaitView& view, const std::vector<Holder>& holders) {
  return holders_text(holders, now_of(view), view.seen != nullptr ? view.seen->unnamed : 0);
}

/// The holder, if there is only one.
const Holder* only(const WaitView& view, const std::vector<Holder>& holders) {
  const bool others = view.seen != nullptr && view.seen->unnamed > 0;
  return holders.size() == 1 && !others ? &holders.front() : nullptr;
}

/// No permit is taken, and none is available.
bool is_empty_pool(const WaitView& view) {
  if (!view.is_pool || view.seen == nullptr || !view.seen->holders.empty() || view.seen->unnamed > 0)
    return false;
  return view.seen->available && *view.seen->available <= 0;
}

std::string nobody_text(const WaitView& view, std::string_view is, Moment moment) {
  if (view.busy.waiters && view.busy.position == 1)
    return fmt::format("{} free, and we are next in its queue", is);
  if (view.busy.waiters) return fmt::format("{} free, and reserved for the first waiter in its queue", is);
  if (view.seen != nullptr && view.seen->absent())
    return moment == Moment::over ? " was taken, and is free by now" : ": free by now";
  return moment == Moment::waiting ? "" : fmt::format("{} taken", is);
}

std::string place(const WaitView& view) {
  const Busy& busy = view.busy;
  if (view.seen != nullptr && view.seen->place)
    return fmt::format("; {} of {} in the queue", ordinal(view.seen->place->position),
                       view.seen->place->length);
  if (busy.position && busy.waiters)
    return fmt::format("; {} of {} in the queue", ordinal(*busy.position), *busy.waiters);
  if (view.listeners == 0) return "";
  return view.listeners == 1 ? "; 1 client waits" : fmt::format("; {} clients wait", view.listeners);
}

/// When the hold ends, from the answer to the acquire. Only an inspection tells if the holder lives.
std::string outlook_of_busy(const Busy& busy, TimePoint now) {
  if (busy.no_ttl) return "; no TTL: the key never expires";
  if (!busy.rest) return "";
  const Milliseconds rest = remaining(plus(busy.seen_at, *busy.rest), now);
  if (rest == Milliseconds{0}) return "; its lease has just ended";
  return fmt::format("; expires in {} unless the holder renews it", describe(rest));
}

std::string outlook(const WaitView& view, const std::vector<Holder>& holders) {
  if (view.seen == nullptr) return outlook_of_busy(view.busy, view.now);
  const Holder* holder = only(view, holders);
  if (holder == nullptr) return "";
  const bool kept = holder->facts && holder->facts->ended_at;
  return fmt::format("; {}{}", kept ? "kept " : "", outlook_text(*holder, view.seen->now));
}

}  // namespace

std::string wait_text(const WaitView& view, Moment moment) {
  const std::vector<Holder> holders = holders_of(view);
  const std::string_view is = moment == Moment::over ? " is" : moment == Moment::past ? " was" : ":";
  std::string text = quoted(view.busy.key);
  if (!view.state.empty()) {
    const bool absent = view.seen != nullptr && view.seen->absent();
    text += fmt::format(": {}", absent                ? "it does not exist"
                                : is_empty_pool(view) ? "the pool has 0 permits"
                                                      : view.state);
    const bool held = !holders.empty() || (view.seen != nullptr && view.seen->unnamed > 0);
    if (held) text += "; held by " + text_of(view, holders);
  } else if (holders.empty()) {
    text += nobody_text(view, is, moment);
  } else {
    text += fmt::format("{} held by {}", is, text_of(view, holders));
  }
  const Holder* const holder = only(view, holders);
  if (holder != nullptr && std::ranges::find(view.above, holder->owner) != view.above.end()) {
    if (holder->facts->renews) return text + ", which waits for this command";
    text += ", a process above this one";
  }
  return text + place(view) + (moment == Moment::past ? "" : outlook(view, holders));
}

Owner named_holder(const WaitView& view) {
  const std::vector<Holder> holders = holders_of(view);
  return holders.empty() ? Owner{} : holders.front().owner;
}

std::string wait_remedy(const WaitView& view, const std::string& words) {
  const std::vector<Holder> holders = holders_of(view);
  if (is_empty_pool(view)) return fmt::format("to make the pool larger: rlock permit set {} N", words);
  if (!view.state.empty())  // a semaphore, a pool or a latch: it has no single holder to remove
    return holders.empty() ? "" : "to see its holders: rlock inspect " + words;
  if (holders.empty() && view.busy.waiters) return "to see its waiters: rlock inspect -v " + words;
  if (view.seen == nullptr || view.seen->kind == nullptr) return "";
  const auto stale = [&](const Holder& holder) { return holder.stale(view.seen->now); };
  if (std::ranges::none_of(holders, stale)) return "";
  return fmt::format("if the holder is dead, remove the lock: rlock unlock {}{}",
                     view.seen->unknown_text() ? "--type plain " : "", words);
}

}  // namespace rlock
