#include "sync/kinds/latch.h"

#include "base/random.h"
#include "scripts.h"
#include "sync/calls/arguments.h"
#include "sync/calls/keys.h"
#include "sync/calls/kind.h"
#include "sync/calls/record_json.h"
#include "sync/calls/requests.h"

namespace rlock {

Latch::Latch(LockName name, PubSub pub_sub)
    : name_(std::move(name)), pub_sub_(pub_sub), request_(request_key(name_, new_request())) {}

Call Latch::call(const Script& script, Values more) const {
  append(more, {{Parameter::latch, name_.str()},
                {Parameter::request, request_},
                {Parameter::channel, latch_channel(name_).str()},
                {Parameter::sharded, word(pub_sub_)},
                {Parameter::memory, in_ms(kRequestMemory)}});
  return call_of(script, std::move(more));
}

Call Latch::write_record(std::string total) const {
  return call(scripts::latch_record, {{Parameter::record, metadata_key(name_)},
                                      {Parameter::total, std::move(total)},
                                      {Parameter::stays, in_ms(kRecordStays)}});
}

Call Latch::set(std::int64_t total, Milliseconds expire) const {
  return call(scripts::latch_set,
              {{Parameter::total, std::to_string(total)}, {Parameter::expire, in_ms(expire)}});
}

Call Latch::down(std::int64_t count) const {
  return call(scripts::latch_down, {{Parameter::count, std::to_string(count)}});
}

Call Latch::remove() const { return call(scripts::latch_delete); }

Call Latch::erase_record() const {
  return call_of(scripts::meta_erase,
                 {{Parameter::meta, metadata_key(name_)},
                  {Parameter::held, name_.str()},  // the owner of a lock may have the same name
                  {Parameter::owner, std::string{kLatchField}},
                  {Parameter::member, std::string{kLatchField}}});
}

Call Latch::status() const { return call(scripts::latch_status); }

CounterAnswer Latch::read(const Reply& reply) const {
  return decode_counter(name_, kinds::latch.noun, reply);
}

CounterAnswer Latch::read_down(const Reply& reply) const {
  return decode_count(name_, kinds::latch.noun, reply);
}

Call Latch::record() const {
  const std::string key = metadata_key(name_);
  return command({"HGET", key, std::string{kLatchField}}, key);
}

std::optional<LatchRecord> Latch::read_record(const Reply& reply) const {
  return reply.kind() == Reply::Kind::text ? parse_latch_record(reply.text()) : std::nullopt;
}

std::optional<LatchRecord> parse_latch_record(std::string_view text) {
  if (!text.starts_with("{\"total\":"))
    return std::nullopt;  // the metadata of an owner who is called "latch"
  const RecordJson record = parse_object(text).value_or(RecordJson::object());
  return LatchRecord{.total = number_at(record, "total"),
                     .set = time_at(record, "set"),
                     .opened = time_at(record, "opened")};
}

LatchWait::LatchWait(Claim claim, Until until)
    : claim_(std::move(claim)), until_(until), line_(claim_, latch_channel(claim_.name)) {}

Call LatchWait::encode(Milliseconds waited) const {
  Values all{{Parameter::latch, claim_.name.str()},
             {Parameter::owner, claim_.owner.str()},
             {Parameter::waited, line_.waited(waited)}};
  append(all, line_.values());
  if (until_ == Until::set) all.emplace_back(Parameter::record, metadata_key(claim_.name));
  return call_of(scripts::latch_inspect, std::move(all));
}

/// A waiter that gives up loses its place.
std::optional<Call> LatchWait::undo(Wake) const { return ask(Milliseconds{-1}); }

/// A closed latch also opens when its key expires: see retry_after.
AcquireAnswer LatchWait::decode(const Reply& reply) const {
  const std::string word = word_of(reply);
  if (word == "open") return Held{.server_time = reply.at(1).server_time()};
  if (word == "closed") {
    if (until_ == Until::set) return Held{};
    if (reply.at(1).integer() >= 0) return Busy{.retry_after = reply.at(1).milliseconds()};
    return Busy{};
  }
  if (word == "absent") return Busy{};
  return decode_acquire(claim_, kinds::latch.noun, reply);
}

}  // namespace rlock
