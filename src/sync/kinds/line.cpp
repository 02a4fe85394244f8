#include "sync/kinds/line.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "scripts.h"
#include "sync/kinds/arguments.h"
#include "sync/kinds/keys.h"

namespace rlock {
namespace {

/// How long the second leaves a release to the first: who needs longer is frozen.
constexpr Milliseconds kFirstMayTake{300};

/// In the first and the second place we ask again after this at the latest: messages get lost, and keys are
/// deleted by hand. (The scripts say the same of the place in which they see us.)
constexpr Milliseconds kFirstSleeps{2000};

/// Between the questions of two neighbours in a line that have lost the server, or their places.
constexpr Milliseconds kBetweenQuestions{2};

/// When the lease ends the second asks so much later than the first.
constexpr Milliseconds kBehindFirst{200};

std::optional<Milliseconds> time_from(const Reply& reply) {
  if (reply.integer() < 0) return std::nullopt;
  return reply.milliseconds();
}

/// "<place> <rest>"; nothing: another text.
std::optional<Line::Heard> place_in(std::string_view text) {
  const std::vector<std::string> words = split(std::string{text}, ' ');
  if (words.size() != 2) return std::nullopt;
  const auto place = parse_count(words[0]);
  const auto rest = parse_count(words[1]);
  if (!place || *place < 1) return std::nullopt;
  return Line::Heard{.place = place, .rest = rest ? Milliseconds{*rest} : Milliseconds{-1}};
}

/// "later <ms>": it is our turn, but others than rlock's waiters may take this one first. Nothing: another
/// text.
std::optional<Line::Heard> later_in(std::string_view text) {
  constexpr std::string_view kLater = "later ";
  constexpr std::int64_t kAtMost = 100;
  if (!text.starts_with(kLater)) return std::nullopt;
  const auto after = parse_count(text.substr(kLater.size()));
  if (!after || *after > kAtMost) return std::nullopt;
  return Line::Heard{.ask_after = Milliseconds{*after}, .not_before = true};
}

}  // namespace

Line::Line(const Claim& claim, Channel releases)
    : releases_(std::move(releases)),
      own_(releases_.str() + ":" + claim.owner.str()),
      all_(releases_.str() + ":"),
      pub_sub_(claim.pub_sub),
      turn_(claim.turn),
      ticket_(claim.ticket),
      keys_(line_values(claim.name)) {}

Values Line::values() const {
  Values all = keys_;
  append(all, {{Parameter::channel, releases_.str()},
               {Parameter::sharded, word(pub_sub_)},
               {Parameter::ticket, std::to_string(ticket_)}});
  return all;
}

std::string Line::waited(Milliseconds waited) const { return queues() ? number(waited) : "-1"; }

std::vector<Channel> Line::channels(const Busy& busy) const {
  if (!busy.position) return {releases_};
  if (*busy.position > kListening) return {own_, all_};
  return {own_, all_, releases_};
}

Line::Heard Line::hear(const Message& message, const Busy& busy) const {
  const std::int64_t place = busy.position.value_or(0);
  if (message.channel == all_) {
    if (!message.text) return {};
    return {.ask_after = kBetweenQuestions * place};
  }
  if (message.channel != releases_) {
    const auto moved = message.text ? place_in(*message.text) : std::nullopt;
    if (moved) return *moved;
    const auto later = message.text ? later_in(*message.text) : std::nullopt;
    if (later) return *later;
    // A failover makes thousands subscribe again at once: they ask one after the other.
    return {.ask_after = message.text || place <= kListening ? Milliseconds{0} : kBetweenQuestions * place};
  }
  if (place <= 1) return Heard::reason();
  // What was released before we listened here, the first has heard.
  if (place > kListening || !message.text) return {};
  return {.ask_after = kFirstMayTake};
}

void Line::move_up(Busy& busy, const Heard& heard, TimePoint now) {
  const Milliseconds behind = kBehindFirst * (*heard.place - 1);
  busy.position = heard.place;
  busy.retry_after = kFirstSleeps * *heard.place;
  busy.no_ttl = heard.rest < Milliseconds{0};
  busy.rest = busy.no_ttl ? std::nullopt : std::optional{heard.rest};
  if (busy.rest) busy.retry_after = std::min(*busy.retry_after, *busy.rest + behind);
  busy.heard = now;
}

Busy decode_place(const Reply& reply) {
  Busy busy{.retry_after = time_from(reply.at(1)),
            .no_ttl = reply.at(2).integer() == -1,
            .holder = reply.at(5).is_nil() ? "" : reply.at(5).text(),
            .rest = time_from(reply.at(2))};
  if (reply.at(3).integer() > 0) busy.position = reply.at(3).integer();
  if (reply.at(4).integer() > 0) busy.queue = reply.at(4).integer();
  return busy;
}

}  // namespace rlock
