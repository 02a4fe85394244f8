#include "sync/kinds/pool.h"

#include <fmt/format.h>

#include <utility>

#include "base/key_text.h"
#include "base/random.h"
#include "scripts.h"
#include "sync/calls/arguments.h"
#include "sync/calls/foreign.h"
#include "sync/calls/keys.h"
#include "sync/calls/kind.h"
#include "sync/calls/requests.h"

namespace rlock {

std::string_view noun_of(PoolKind kind) {
  return kind == PoolKind::semaphore ? kinds::semaphore.noun : kinds::permit.noun;
}

Refused refuse_absent(const LockName& name, PoolKind kind) {
  const auto [what, verb] =
      kind == PoolKind::semaphore ? std::pair{"semaphore", "sem"} : std::pair{"pool of permits", "permit"};
  return {.why = Refused::Why::absent,
          .text = fmt::format("there is no {} {}; to create it: rlock {} init {} N", what, quoted(name), verb,
                              words_for(name))};
}

Pool::Pool(LockName name, PoolKind kind, PubSub pub_sub)
    : name_(std::move(name)), kind_(kind), pub_sub_(pub_sub), request_(request_key(name_, new_request())) {}

Call Pool::make_call(const Script& script, Values more) const {
  append(more, {{Parameter::pool, name_.str()},
                {Parameter::request, request_},
                {Parameter::channel, permits_channel(name_).str()},
                {Parameter::sharded, word(pub_sub_)},
                {Parameter::memory, in_ms(kRequestMemory)}});
  if (kind_ == PoolKind::permits)
    append(more, {{Parameter::taken, taken_key(name_)}, {Parameter::slots, permit_slots_key(name_)}});
  append(more, line_values(name_));
  return call_of(script, std::move(more));
}

Call Pool::init(std::int64_t total, Milliseconds expire) const {
  return make_call(scripts::counter_init,
                   {{Parameter::total, std::to_string(total)}, {Parameter::expire, in_ms(expire)}});
}

Call Pool::resize(std::int64_t total) const {
  return make_call(
      scripts::counter_init,
      {{Parameter::total, std::to_string(total)}, {Parameter::expire, "0"}, {Parameter::resize, "1"}});
}

Call Pool::add(std::int64_t count) const {
  return make_call(scripts::counter_add, {{Parameter::count, std::to_string(count)}});
}

Call Pool::drain() const { return make_call(scripts::semaphore_drain); }

Call Pool::undo_drain() const {
  return make_call(scripts::semaphore_undo, {{Parameter::owner, ""}});  // no owner has a place in the line
}

Call Pool::remove() const { return make_call(scripts::counter_delete); }

CounterAnswer Pool::read(const Reply& reply) const { return decode_counter(name_, noun_of(kind_), reply); }

CounterAnswer Pool::read_count(const Reply& reply) const {
  return decode_count(name_, noun_of(kind_), reply);
}

Call Pool::release(const std::vector<std::string>& ids) const {
  Call release = make_call(scripts::permit_release_ids);
  append(release.args.edit(), ids);
  return with_large_reply(std::move(release));
}

Pool::ReleasedIds Pool::read_release(const Reply& reply) const {
  ReleasedIds released{.unannounced = reply.at(0).text()};
  for (std::size_t i = 1; i < reply.items().size(); ++i) released.taken.push_back(reply.at(i).integer() == 1);
  return released;
}

Call Pool::renew(const std::vector<std::string>& ids, Milliseconds lease) const {
  Call renewal = make_call(scripts::permit_renew_ids, {{Parameter::lease, in_ms(lease)}});
  append(renewal.args.edit(), ids);
  return with_large_reply(std::move(renewal));
}

std::vector<bool> Pool::read_renewal(const Reply& reply) const {
  std::vector<bool> renewed;
  for (const Reply& item : reply.items()) renewed.push_back(item.integer() == 1);
  return renewed;
}

Call Pool::status() const {
  return make_call(kind_ == PoolKind::semaphore ? scripts::semaphore_status : scripts::permit_status);
}

Call Pool::status(const std::string& id) const {
  return make_call(scripts::permit_status, {{Parameter::id, id}});
}

std::variant<std::optional<Pool::Status>, Refused> Pool::read_status(const Reply& reply) const {
  const std::string word = word_of(reply);
  if (word == "absent") return std::optional<Status>{};
  if (word == "foreign") return refuse_foreign(name_, noun_of(kind_), reply.at(1).text());
  if (word != "found") refuse_word("status", reply);
  std::optional<Status> status{{.available = reply.at(1).integer()}};
  if (kind_ == PoolKind::semaphore) return status;
  status->total = reply.at(2).integer();
  if (reply.at(3).integer() >= -1) status->rest = reply.at(3).milliseconds();
  return status;
}

}  // namespace rlock
