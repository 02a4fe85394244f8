// A waiter learns its place from a "busy" (decode_place()), and from then on by messages (read_notice()):
//
//   own channel      It has moved up, "<place> <rest>"; or it is its turn, at once or "later <ms>".
//   channel of all   Something happened that each waiter must look at.
//   releases         Only the first waiters listen (kListening): one of them asks if those before it do not.
//
// A message can be lost, so each waiter also asks without one. The farther behind it is, the later (move_up()). After
// a failover all of them would ask at once: each pauses for those before it (pause_behind_others()).

#include "sync/calls/line.h"

#include <algorithm>

#include "base/text.h"
#include "scripts.h"
#include "sync/calls/arguments.h"
#include "sync/calls/keys.h"

namespace rlock {
namespace {

/// The second waiter asks this long after a release of another client. If the first waiter has not acquired the
/// lock by then, it is probably frozen.
constexpr Milliseconds kFirstMayAcquire{300};

/// The first waiter asks again after this at the latest, the second after twice as long, and so on. Messages get lost,
/// and people delete keys by hand. lua/shared/line/alive_until has the same figure.
constexpr Milliseconds kFirstSleeps{2000};

/// When waiters have lost the server or their line, each asks this much later than the one before it. Until a
/// waiter sleeps again, it costs a server 0.3 ms: its connection, two questions, and a subscription.
constexpr std::chrono::microseconds kBetweenQuestions{500};

/// A line of 100,000 waiters needs this long. A waiter that is still farther behind pauses no longer.
constexpr Milliseconds kLongestPause{50000};

/// When the lease ends, each waiter asks this much later than the one before it.
constexpr Milliseconds kBehindFirst{200};

std::optional<Milliseconds> time_from(const Reply& reply) {
  if (reply.integer() < 0) return std::nullopt;
  return reply.milliseconds();
}

/// Parses "<place> <rest>". Empty: it is another text.
std::optional<Line::Notice> place_in(std::string_view text) {
  const std::vector<std::string> words = split(std::string{text}, ' ');
  if (words.size() != 2) return std::nullopt;
  const auto place = parse_count(words[0]);
  const auto rest = parse_count(words[1]);
  if (!place || *place < 1) return std::nullopt;
  return Line::Notice{.place = place,
                      .rest = rest ? std::min(Milliseconds{*rest}, kLongest) : Milliseconds{-1}};
}

/// Parses "later <ms>": it is our turn, but clients other than rlock may take this release first. Empty: it
/// is another text.
std::optional<Line::Notice> later_in(std::string_view text) {
  constexpr std::string_view kLater = "later ";
  constexpr std::int64_t kAtMost = 100;
  if (!text.starts_with(kLater)) return std::nullopt;
  const auto after = parse_count(text.substr(kLater.size()));
  if (!after || *after > kAtMost) return std::nullopt;
  return Line::Notice{.ask_after = Milliseconds{*after}, .not_before = true};
}

}  // namespace

Line::Line(const Claim& claim, Channel releases)
    : releases_(std::move(releases)),
      own_(own_channel(releases_, claim.owner)),
      all_(releases_.str() + ":"),
      pub_sub_(claim.pub_sub),
      if_busy_(claim.if_busy),
      ticket_(claim.ticket),
      keys_(line_values(claim.name)) {}

Values Line::values() const {
  Values all = keys_;
  append(all, {{Parameter::channel, releases_.str()},
               {Parameter::sharded, word(pub_sub_)},
               {Parameter::ticket, std::to_string(ticket_)}});
  return all;
}

Values Line::waiting() const {
  return {{Parameter::alive, value_of(keys_, Parameter::line_waiters)},
          {Parameter::waits, value_of(keys_, Parameter::line_facts)}};
}

std::string Line::waited(Milliseconds waited) const { return takes_place() ? in_ms(waited) : "-1"; }

std::vector<Channel> Line::channels(const Busy& busy) const {
  if (!busy.position) return {releases_};
  if (*busy.position > kListening) return {own_, all_};
  return {own_, all_, releases_};
}

Line::Notice Line::read_notice(const Message& message, const Busy& busy) const {
  const std::int64_t place = busy.position.value_or(0);
  if (message.channel == all_) {
    if (!message.text) return {};
    return {.ask_after = pause_behind_others(busy)};
  }
  if (message.channel != releases_) {
    const auto moved = message.text ? place_in(*message.text) : std::nullopt;
    if (moved) return *moved;
    const auto later = message.text ? later_in(*message.text) : std::nullopt;
    if (later) return *later;
    // A message without a text confirms a subscription. After a failover thousands of waiters subscribe at
    // once, so they ask one after the other.
    return {.ask_after = message.text ? Milliseconds{0} : pause_behind_others(busy)};
  }
  if (place <= 1) return Notice::reason();
  // A message without a text confirms our subscription. It is no reason for the second waiter to ask: the
  // first waiter hears of a release that the second has missed.
  if (place > kListening || !message.text) return {};
  return {.ask_after = kFirstMayAcquire};
}

Milliseconds Line::pause_behind_others(const Busy& busy) {
  const std::int64_t place = busy.position.value_or(0);
  if (place <= kListening) return Milliseconds{0};
  if (place > kLongestPause / kBetweenQuestions) return kLongestPause;
  return std::chrono::ceil<Milliseconds>(kBetweenQuestions * place);
}

Milliseconds Line::pace(const Busy& busy) {
  const std::int64_t place = busy.position.value_or(1);
  return kFirstSleeps * std::min(place, kSleepsAtMost / kFirstSleeps);
}

void Line::move_up(Busy& busy, const Notice& notice, TimePoint now) {
  const Milliseconds behind = kBehindFirst * std::min(*notice.place - 1, kSleepsAtMost / kBehindFirst);
  busy.position = notice.place;
  busy.retry_after = pace(busy);
  busy.no_ttl = notice.rest < Milliseconds{0};
  busy.rest = busy.no_ttl ? std::nullopt : std::optional{notice.rest};
  if (busy.rest) busy.retry_after = std::min(*busy.retry_after, *busy.rest + behind);
  busy.seen_at = now;
}

Busy decode_place(const Reply& reply) {
  Busy busy{.retry_after = time_from(reply.at(1)),
            .no_ttl = reply.at(2).integer() == -1,
            .holder = reply.at(5).is_nil() ? "" : reply.at(5).text(),
            .rest = time_from(reply.at(2))};
  if (reply.at(3).integer() > 0) busy.position = reply.at(3).integer();
  if (reply.at(4).integer() > 0) busy.waiters = reply.at(4).integer();
  return busy;
}

}  // namespace rlock
