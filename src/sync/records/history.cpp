#include "sync/records/history.h"

#include <utility>

#include "scripts.h"
#include "sync/calls/arguments.h"
#include "sync/calls/keys.h"
#include "sync/calls/record_json.h"

namespace rlock {
namespace {

/// Longer texts are cut, because a key keeps twenty entries for a week.
constexpr std::size_t kLongestPart = 200;

constexpr int kLargestExit = 255;

std::string entry_of(const PastHold& past) {
  const Metadata& facts = past.facts;
  const auto waited = past.waited ? std::optional{past.waited->count()} : std::nullopt;
  JsonObject json;
  json.add("host", brief(facts.host, kLongestPart))
      .add("pid", facts.pid)
      .add("user", brief(facts.user, kLongestPart))
      .add("command", brief(facts.command, kLongestPart))
      .add("reason", brief_or_null(facts.reason, kLongestPart))
      .add("url", brief_or_null(facts.url, kLongestPart))
      .add("type", past.type)
      .add_json("since", in_ms(facts.since))
      .add_json("ended_at", in_ms(past.ended))
      .add("waited_ms", waited)
      .add("outcome", past.end.word())
      .add("exit", past.end.exit)
      .add("signal", past.end.signal)
      .add("why", brief_or_null(past.end.why, kLongestPart));
  return json.str();
}

std::optional<int> small_number_at(const RecordJson& entry, const char* name) {
  const auto number = number_at(entry, name);
  return number && *number <= kLargestExit ? std::optional{static_cast<int>(*number)} : std::nullopt;
}

/// Parses "<owner>\n<JSON>".
std::optional<PastHold> read_entry(std::string_view text) {
  const std::size_t newline = text.find('\n');
  if (newline == std::string_view::npos) return std::nullopt;
  const std::string_view json = text.substr(newline + 1);
  const auto entry = parse_object(json);
  const auto facts = parse_metadata(json);
  if (!entry || !facts || !facts->ended_at) return std::nullopt;

  PastHold past{.type = text_at(*entry, "type").value_or("lock")};
  past.owner = Owner{std::string{text.substr(0, newline)}};
  past.facts = *facts;
  past.ended = *facts->ended_at;
  if (const auto waited = number_at(*entry, "waited_ms")) past.waited = Milliseconds{*waited};
  const std::string word = text_at(*entry, "outcome").value_or("unknown");
  past.end = {.outcome = outcome_in(word),
              .exit = small_number_at(*entry, "exit"),
              .signal = small_number_at(*entry, "signal"),
              .why = text_at(*entry, "why"),
              .other_word = word};
  return past;
}

}  // namespace

Call write_end(const LockName& name, const Owner& owner, const HoldEntry& entry, const PastHold& past,
               WriteEnd when) {
  // A key that outlives its command (--min-hold) has two ends: the end of the command, and the removal of the
  // key.
  const ServerTime not_before = past.facts.ended_at ? past.ended : past.facts.since;
  return erase_metadata(name, owner, entry,
                        {{Parameter::history, history_key(name)},
                         {Parameter::when, when == WriteEnd::always ? "ended" : "known"},
                         {Parameter::since, in_ms(not_before)},
                         {Parameter::ended, in_ms(past.ended)},
                         {Parameter::entry, entry_of(past)}});
}

std::vector<Part> with_history(std::vector<Part> parts, const PastHold& past, WriteEnd when) {
  for (Part& part : parts) {
    if (part.joins) continue;  // an inner hold: the outer hold has the history
    const Lockable& lock = *part.lock;
    part.release_followers = {write_end(lock.name(), lock.owner(), lock.hold_entry(), past, when)};
  }
  return parts;
}

Call ask_history(const LockName& name, std::int64_t most) {
  return with_large_reply(call_of(scripts::history_read, {{Parameter::history, history_key(name)},
                                                          {Parameter::most, std::to_string(most)}}));
}

std::optional<History> history_in(const Vote& vote) {
  if (vote.good_reply() == nullptr) return std::nullopt;
  try {
    return read_history(*vote.good_reply());
  } catch (const Error&) {  // a reply of another shape: what it would tell is for people only
    return std::nullopt;
  }
}

History read_history(const Reply& reply) {
  History history{.now = reply.at(0).server_time(), .holds = {}};
  for (std::size_t i = 1; i < reply.items().size(); ++i) {
    auto past = read_entry(reply.at(i).text());
    if (past) history.holds.push_back(*std::move(past));
  }
  return history;
}

}  // namespace rlock
