#include "sync/kinds/permits.h"

#include <fmt/format.h>

#include "base/key_text.h"
#include "base/text.h"
#include "scripts.h"
#include "sync/kinds/answers.h"
#include "sync/kinds/arguments.h"
#include "sync/kinds/keys.h"
#include "sync/kinds/kind.h"
#include "sync/kinds/pool.h"

namespace rlock {
namespace {

/// An id in a reply takes so many bytes of memory, or less.
constexpr std::size_t kIdTakes = 128;

/// In an id: there were more permits than slots can be told.
constexpr std::int64_t kNoSlot = 65535;

Refused refuse_size(const LockName& name, std::int64_t wanted, std::int64_t found) {
  const std::string remedy =
      wanted > found
          ? fmt::format("or change it for everybody: rlock permit add {} {}", words_for(name), wanted - found)
          : "since rlock permit add makes a pool larger and never smaller";
  return {.why = Refused::Why::wrong_type,
          .text = fmt::format("{} is a pool of {} permits, not of {}; use --permits {}, {}", quoted(name),
                              found, wanted, found, remedy)};
}

Refused refuse_count(const LockName& name, std::int64_t count, std::int64_t size) {
  return {
      .why = Refused::Why::wrong_type,
      .text = fmt::format("{}: the pool has {} permits, and --count {} can never be had; ask for fewer, or "
                          "make it larger: rlock permit add {} {}",
                          quoted(name), size, count, words_for(name), count - size)};
}

}  // namespace

std::optional<std::int64_t> slot_in(const std::string& id) {
  if (id.size() != 16 || !id.starts_with("rk")) return std::nullopt;
  const std::int64_t slot = static_cast<unsigned char>(id[2]) * 256 + static_cast<unsigned char>(id[3]);
  if (slot == kNoSlot) return std::nullopt;
  return slot;
}

Permits::Permits(Claim claim, const Wanted& wanted, Hold hold)
    : claim_(std::move(claim)),
      wanted_(wanted),
      hold_(hold),
      requests_(claim_, hold),
      line_(claim_, permits_channel(claim_.name)),
      taken_(suffix_name(claim_.name, "timeout")),
      slots_(permit_slots_key(claim_.name)) {}

std::vector<Channel> Permits::channels() const { return {permits_channel(claim_.name)}; }

Call Permits::enter(Milliseconds lease) const {
  Call call{.script = &scripts::permit_enter,
            .keys = {claim_.name.str(), taken_, slots_},
            .args = {claim_.owner.str(), std::to_string(wanted_.count), number(lease)}};
  call.largest_reply += static_cast<std::size_t>(wanted_.count) * kIdTakes;
  return call;
}

Call Permits::ask(Milliseconds waited) const {
  Call call = enter(claim_.lease);
  if (hold_ == Hold::another) return call;
  call.script = &scripts::permit_acquire;
  call.args.insert(call.args.end(),
                   {wanted_.total ? std::to_string(*wanted_.total) : "", permits_channel(claim_.name).str(),
                    word(claim_.pub_sub), number(kRequestMemory), line_.arguments(waited).front()});
  append(call.keys, line_.keys());
  if (requests_.counts_acquire()) call.keys.push_back(requests_.acquire());
  return call;
}

Held Permits::decode_held(const Reply& reply) const {
  Held held{.server_time = reply.at(1).milliseconds()};
  if (reply.items().size() != static_cast<std::size_t>(wanted_.count) + 2)
    throw Error{Error::internal, fmt::format("a script answered {} permits instead of {}",
                                             reply.items().size() - 2, wanted_.count)};
  for (std::size_t i = 2; i < reply.items().size(); ++i) {
    held.permits.push_back(reply.at(i).text());
    if (const auto slot = slot_in(held.permits.back())) held.slots.push_back(*slot);
  }
  return held;
}

Attempt Permits::decode(const Reply& reply) const {
  const std::string word = word_of(reply);
  if (word == "held") return decode_held(reply);
  if (word == "busy") return decode_place(reply);
  if (word == "absent") return refuse_absent(claim_.name, PoolKind::permits);
  if (word == "other_size") return refuse_size(claim_.name, wanted_.total.value_or(0), reply.at(1).integer());
  if (word == "too_small") return refuse_count(claim_.name, wanted_.count, reply.at(1).integer());
  return decode_attempt(claim_, kinds::permit.noun, reply);
}

std::optional<Call> Permits::undo(Wake wake) const {
  if (hold_ == Hold::another) return std::nullopt;
  return release_call({.keep_until = {}, .wake = wake}, requests_.counts_acquire() ? Way::undo : Way::first);
}

Call Permits::renew() const {
  return {.script = &scripts::permit_renew,
          .keys = {claim_.name.str(), taken_, slots_},
          .args = {claim_.owner.str(), std::to_string(wanted_.count), number(claim_.lease)}};
}

Call Permits::release(const ReleaseOptions& options) const {
  if (hold_ == Hold::another)
    return enter(Milliseconds{0});  // nothing to release: it is only asked whether the outer hold remains
  return release_call(options, requests_.release_way());
}

Call Permits::release_call(const ReleaseOptions& options, Way way) const {
  Call call{.script = &scripts::permit_release,
            .keys = {claim_.name.str(), taken_, slots_},
            .args = {claim_.owner.str(), std::to_string(wanted_.count),
                     number(options.keep_until.value_or(Milliseconds{0})),
                     options.wake == Wake::nobody ? "" : permits_channel(claim_.name).str(),
                     word(claim_.pub_sub), number(kRequestMemory), word(way), line_.releases().str()}};
  append(call.keys, line_.keys());
  if (way == Way::undo) call.keys.push_back(requests_.acquire());
  if (way == Way::again) call.keys.push_back(requests_.release());
  return call;
}

Released Permits::decode_release(const Reply& reply) const {
  if (hold_ == Hold::first) return decode_released(reply);
  return {.how = word_of(reply) == "held" ? Released::How::still_held : Released::How::was_not_ours};
}

}  // namespace rlock
