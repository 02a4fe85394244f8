#include "sync/calls/answers.h"

#include <fmt/format.h>

#include "base/key_text.h"
#include "base/text.h"
#include "sync/calls/foreign.h"

namespace rlock {
namespace {

Refused refuse_upgrade(const Claim& claim) {
  return {.why = Refused::Why::upgrade,
          .text = fmt::format(
              "{} is already held for reading by this owner ({}), which cannot also acquire it for writing; "
              "acquire it with -x from the start, or release it first",
              quoted(claim.name), sanitized(claim.owner.str()))};
}

Refused refuse_outdated(const LockName& name, const std::string& newer) {
  return {.why = Refused::Why::superseded,
          .text = fmt::format("{}: superseded by {}", quoted(name),
                              newer.empty() ? "a newer process" : sanitized(newer))};
}

}  // namespace

std::string word_of(const Reply& reply) { return reply.at(0).text(); }

void refuse_word(std::string_view question, const Reply& reply) {
  throw Error{Error::internal,
              fmt::format("a script answered {} to {}", in_quotes(word_of(reply)), question)};
}

AcquireAnswer decode_acquire(const Claim& claim, std::string_view wanted, const Reply& reply) {
  const std::string word = word_of(reply);
  if (word == "held") {
    Held held{.server_time = reply.at(1).server_time()};
    if (reply.items().size() > 2) held.fence = reply.at(2).integer();
    return held;
  }
  if (word == "busy")
    return reply.items().size() > 3 ? decode_place(reply) : busy_until(reply.at(1), reply.at(2));
  if (word == "not_ours")
    return Refused{.why = Refused::Why::absent,
                   .text = fmt::format("{} is not held by {} any more", quoted(claim.name),
                                       sanitized(claim.owner.str()))};
  if (word == "upgrade") return refuse_upgrade(claim);
  if (word == "superseded") return refuse_outdated(claim.name, reply.at(1).text());
  if (word == "foreign") return refuse_foreign(claim.name, wanted, reply.at(1).text());
  refuse_word("acquire", reply);
}

Busy busy_until(const Reply& pttl, const Reply& holder) {
  Busy busy;
  if (!holder.is_nil()) busy.holder = holder.text();
  const Milliseconds rest = pttl.milliseconds();
  if (rest < Milliseconds{0}) {
    busy.no_ttl = true;
  } else {
    busy.retry_after = busy.rest = rest;
  }
  return busy;
}

Released decode_released(const Reply& reply) {
  const std::string word = word_of(reply);
  if (word == "released") return {.how = Released::How::yes, .unannounced = reply.at(1).text()};
  if (word == "still_held") return {.how = Released::How::still_held};
  if (word == "kept") return {.how = Released::How::kept, .rest = reply.at(1).milliseconds()};
  if (word == "not_ours") return {.how = Released::How::not_ours};
  refuse_word("release", reply);
}

Forced decode_forced(const LockName& name, std::string_view wanted, const Reply& reply) {
  const std::string word = word_of(reply);
  if (word == "removed") return {.how = Forced::How::removed, .unannounced = reply.at(1).text()};
  if (word == "absent") return {.how = Forced::How::nothing_there};
  if (word == "other_owner") return {.how = Forced::How::other_owner, .other = reply.at(1).text()};
  if (word == "foreign")
    return {.how = Forced::How::refused, .refused = refuse_foreign(name, wanted, reply.at(1).text())};
  refuse_word("force", reply);
}

CounterAnswer decode_counter(const LockName& name, std::string_view wanted, const Reply& reply) {
  const std::string word = word_of(reply);
  if (word == "absent") return {.how = CounterAnswer::How::absent};
  if (word == "foreign")
    return {.how = CounterAnswer::How::refused, .refused = refuse_foreign(name, wanted, reply.at(1).text())};
  if (word == "exists")
    return {.how = CounterAnswer::How::exists, .count = reply.items().size() > 1 ? reply.at(1).integer() : 0};
  if (word == "found") return {.count = reply.at(1).integer()};
  if (word != "done") refuse_word(fmt::format("a call about {}", wanted), reply);
  CounterAnswer answer;
  for (std::size_t i = 1; i < reply.items().size(); ++i) {
    const Reply& item = reply.at(i);
    if (item.kind() == Reply::Kind::integer)
      answer.count = item.integer();
    else
      answer.unannounced = item.text();
  }
  return answer;
}

CounterAnswer decode_count(const LockName& name, std::string_view wanted, const Reply& reply) {
  CounterAnswer answer = decode_counter(name, wanted, reply);
  if (answer.how == CounterAnswer::How::done) answer.count = reply.at(1).integer();
  return answer;
}

}  // namespace rlock
