#include "sync/watch/glance.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/text.h"
#include "redis/rows.h"
#include "scripts.h"
#include "sync/calls/arguments.h"
#include "sync/kinds/permit_lock.h"
#include "sync/watch/inspect.h"

namespace rlock {
namespace {

/// The items of the reply to inspect/glance, by name.
struct GlanceReply {
  explicit GlanceReply(const Reply& reply)
      : now(reply.at(0).server_time()),
        kind(reply.at(1).text()),
        ttl(ttl_of(reply.at(2))),
        unnamed(reply.at(3).integer()),
        place(reply.at(4).integer()),
        length(reply.at(5)),
        available(reply.at(6)),
        holders(std::span{reply.items()}.subspan(std::min(kFirstHolder, reply.items().size()))) {}

  static constexpr std::size_t kFirstHolder = 7;

  ServerTime now;
  std::string kind;
  std::optional<Milliseconds> ttl;
  std::int64_t unnamed, place;
  const Reply &length, &available;
  std::span<const Reply> holders;  ///< five items for each
};

}  // namespace

Call glance_at(const LockName& name, const Owner& asker) {
  Values all = keys_beside(name);
  all.emplace_back(Parameter::asker, asker.str());
  Call call = call_of(scripts::inspect_glance, std::move(all));
  call.largest_reply = kLargestInspection;
  return call;
}

Inspection read_glance(const LockName& name, const Reply& reply) {
  const GlanceReply glance{reply};
  Inspection seen{.name = name, .now = glance.now};
  seen.kind = kind_stored_as(glance.kind);
  if (seen.kind == nullptr && glance.kind != "none") seen.foreign = glance.kind;
  seen.ttl = glance.ttl;
  seen.unnamed = glance.unnamed;
  if (glance.place > 0) seen.place = {glance.place, glance.length.integer()};
  if (glance.available.kind() == Reply::Kind::integer) seen.available = glance.available.integer();
  for (const auto& [owner, permit, ends, holds, json] : rows_of<5>(glance.holders)) {
    Holder holder{.count = holds.integer(), .ttl = ttl_of(ends)};
    const std::string named = owner.text();
    holder.permit = permit.text();
    holder.owner = Owner{named.empty() ? to_hex(holder.permit) : named};
    holder.slot = slot_in(holder.permit);
    if (!holder.permit.empty()) holder.mode = Holder::Mode::permit;
    if (auto facts = parse_metadata(json.text()))
      holder.facts = of_present_holder(*std::move(facts), seen.now);
    seen.holders.push_back(std::move(holder));
  }
  if (!seen.holders.empty() || seen.unnamed > 0) seen.state = Inspection::State::held;
  if (seen.kind != nullptr && seen.state == Inspection::State::held)
    seen.kind = refined(seen.kind, Kind::Sign::permits);  // of a number, only permits name holders
  return seen;
}

}  // namespace rlock
