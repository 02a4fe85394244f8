#include "sync/watch/glance.h"

#include "base/text.h"
#include "scripts.h"
#include "sync/calls/arguments.h"
#include "sync/kinds/permit_lock.h"
#include "sync/watch/inspect.h"

namespace rlock {

Call glance_at(const LockName& name, const Owner& asker) {
  Values all = keys_beside(name);
  all.emplace_back(Parameter::asker, asker.str());
  Call call = call_of(scripts::inspect_glance, std::move(all));
  call.largest_reply = kLargestInspection;
  return call;
}

Inspection read_glance(const LockName& name, const Reply& reply) {
  Inspection seen{.name = name, .now = reply.at(0).milliseconds()};
  const std::string kind = reply.at(1).text();
  seen.kind = kind_stored_as(kind);
  if (seen.kind == nullptr && kind != "none") seen.foreign = kind;
  seen.ttl = ttl_of(reply.at(2));
  seen.unnamed = reply.at(3).integer();
  if (reply.at(4).integer() > 0) seen.place = {reply.at(4).integer(), reply.at(5).integer()};
  if (reply.at(6).kind() == Reply::Kind::integer) seen.available = reply.at(6).integer();
  const std::vector<Reply>& items = reply.items();
  for (std::size_t i = 7; i + 4 < items.size(); i += 5) {
    Holder holder{.count = items[i + 3].integer(), .ttl = ttl_of(items[i + 2])};
    const std::string owner = items[i].text();
    holder.permit = items[i + 1].text();
    holder.owner = Owner{owner.empty() ? to_hex(holder.permit) : owner};
    holder.slot = slot_in(holder.permit);
    if (!holder.permit.empty()) holder.mode = Holder::Mode::permit;
    holder.facts = parse_metadata(items[i + 4].text());
    seen.holders.push_back(std::move(holder));
  }
  if (!seen.holders.empty() || seen.unnamed > 0) seen.state = Inspection::State::held;
  if (seen.kind != nullptr && seen.state == Inspection::State::held)
    seen.kind = refined(seen.kind, Kind::Sign::permits);  // of a number, only permits name holders
  return seen;
}

}  // namespace rlock
