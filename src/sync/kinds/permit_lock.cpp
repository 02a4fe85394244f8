#include "sync/kinds/permit_lock.h"

#include <fmt/format.h>

#include "base/key_text.h"
#include "base/text.h"
#include "scripts.h"
#include "sync/calls/keys.h"
#include "sync/kinds/pool.h"

namespace rlock {
namespace {

/// The most memory that one id in a reply takes, in bytes.
constexpr std::size_t kIdTakes = 128;

/// This slot in an id means that the pool had more permits than slots can number.
constexpr std::int64_t kNoSlot = 65535;

Refused refuse_size(const LockName& name, std::int64_t wanted, std::int64_t found) {
  if (found <= 0)  // --permits begins with 1
    return {
        .why = Refused::Why::wrong_type,
        .text = fmt::format("{} is a pool of {} permits, not of {}; change its size: rlock permit set {} {}",
                            quoted(name), found, wanted, words_for(name), wanted)};
  return {
      .why = Refused::Why::wrong_type,
      .text = fmt::format(
          "{} is a pool of {}, not of {}; use --permits {}, or change the size of the pool: rlock permit set {} {}",
          quoted(name), counted(found, "permit"), wanted, found, words_for(name), wanted)};
}

Refused refuse_count(const LockName& name, std::int64_t count, std::int64_t size) {
  return {.why = Refused::Why::wrong_type,
          .text = fmt::format("the pool {} has {}, fewer than --count {}; ask for fewer, or make the pool "
                              "larger: rlock permit add {} {}",
                              quoted(name), counted(size, "permit"), count, words_for(name), count - size)};
}

constinit const LockBase::Form kPermits{.wanted = &kinds::permit,
                                        .acquire = &scripts::permit_acquire,
                                        .acquire_inner = &scripts::permit_enter,
                                        .renew = &scripts::permit_renew,
                                        .release = &scripts::permit_release,
                                        .counts = false};

/// The keys of a pool, and how many permits to acquire. `slots`: see permit_slots_key().
Values values_of(const Claim& claim, const PermitLock::Wanted& wanted) {
  return {{Parameter::pool, claim.name.str()},
          {Parameter::taken, taken_key(claim.name)},
          {Parameter::slots, permit_slots_key(claim.name)},
          {Parameter::count, std::to_string(wanted.count)},
          {Parameter::total, wanted.total ? std::to_string(*wanted.total) : ""}};
}

}  // namespace

std::optional<std::int64_t> slot_in(const std::string& id) {
  if (id.size() != kPermitIdBytes || !id.starts_with("rk")) return std::nullopt;
  const std::int64_t slot = static_cast<unsigned char>(id[2]) * 256 + static_cast<unsigned char>(id[3]);
  if (slot == kNoSlot) return std::nullopt;
  return slot;
}

PermitLock::PermitLock(const Claim& claim, const Wanted& wanted, Hold hold)
    : LockBase(claim, hold, kPermits, permits_channel(claim.name), values_of(claim, wanted)),
      wanted_(wanted) {}

Call PermitLock::acquire(Milliseconds waited) const {
  Call call = LockBase::acquire(waited);
  call.largest_reply += static_cast<std::size_t>(wanted_.count) * kIdTakes;
  return call;
}

HoldEntry PermitLock::hold_entry() const {
  return {permit_slots_key(name()), owner().str(), own_line().waiting()};
}

Held PermitLock::decode_held(const Reply& reply) const {
  Held held{.server_time = reply.at(1).server_time()};
  if (reply.items().size() != static_cast<std::size_t>(wanted_.count) + 2)
    throw Error{Error::internal, fmt::format("a script answered {} permits instead of {}",
                                             reply.items().size() - 2, wanted_.count)};
  for (std::size_t i = 2; i < reply.items().size(); ++i) {
    held.permits.push_back(reply.at(i).text());
    if (const auto slot = slot_in(held.permits.back())) held.slots.push_back(*slot);
  }
  return held;
}

AcquireAnswer PermitLock::decode(const Reply& reply) const {
  const std::string word = word_of(reply);
  if (word == "held") return decode_held(reply);
  if (word == "busy") return decode_place(reply);
  if (word == "absent") return refuse_absent(name(), PoolKind::permits);
  if (word == "other_size") return refuse_size(name(), wanted_.total.value_or(0), reply.at(1).integer());
  if (word == "too_small") return refuse_count(name(), wanted_.count, reply.at(1).integer());
  return LockBase::decode(reply);
}

}  // namespace rlock
