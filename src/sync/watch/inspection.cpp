#include "sync/watch/inspection.h"

#include <algorithm>
#include <utility>

#include "sync/calls/keys.h"
#include "sync/calls/line.h"
#include "sync/calls/renewal_interval.h"

namespace rlock {
namespace {

/// A script reads the clock and a TTL at two moments, and the two may be some milliseconds apart. A busy machine may
/// stop the server in between.
constexpr Milliseconds kBetweenTwoLooks{100};

}  // namespace

std::optional<bool> Holder::alive(ServerTime now) const {
  if (!facts || facts->ended_at || !facts->renews || facts->lease == Milliseconds{0}) return std::nullopt;
  return now - facts->renewed <= overdue_after(facts->lease);
}

bool Holder::entered(ServerTime now) const {
  if (!facts || facts->ended_at || facts->renews) return false;
  if (count > 1) return true;
  // The key of a read lock lasts as long as the longest lease of its readers.
  return mode != Mode::read && ttl && facts->lease > Milliseconds{0} &&
         now + *ttl > facts->renewed + facts->lease + kBetweenTwoLooks;
}

std::int64_t Inspection::waiting() const {
  const auto placed = static_cast<std::int64_t>(waiters.size());
  std::int64_t listen = std::min(placed, Line::kListening);
  if (kind != nullptr && kind->listeners == Kind::Listeners::none) listen = 0;
  if (kind != nullptr && kind->listeners == Kind::Listeners::all) listen = placed;
  return placed + further_waiters + std::max<std::int64_t>(subscribers - listen, 0);
}

Channel Inspection::channel() const {
  return kind != nullptr && kind->channel != nullptr ? kind->channel(name) : lock_channel(name);
}

const Holder* Inspection::holder(const Owner& owner) const {
  const auto found = std::ranges::find(holders, owner, &Holder::owner);
  return found == holders.end() ? nullptr : &*found;
}

PastHold past_of(const Inspection& found, const Holder& holder, Milliseconds since_found, HoldEnd end) {
  std::string type{found.kind->name};
  if (holder.mode == Holder::Mode::read) type = "read";
  if (holder.mode == Holder::Mode::write) type = "write";
  PastHold past{.type = std::move(type), .facts = holder.facts.value_or(Metadata{.since = found.now})};
  past.ended = found.now + since_found;
  past.end = std::move(end);
  return past;
}

}  // namespace rlock
