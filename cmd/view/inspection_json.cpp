#include "cmd/view/inspection_json.h"

#include <map>
#include <utility>

#include "base/key_text.h"
#include "base/redaction.h"
#include "base/text.h"
#include "cmd/view/history_text.h"
#include "cmd/view/key_row.h"

namespace rlock {
namespace {

using State = Inspection::State;

std::string_view type_of(const Inspection& seen) {
  if (seen.kind != nullptr) return seen.kind->name;
  return seen.absent() ? "none" : "foreign";
}

std::string_view name_of(Holder::Mode mode) {
  switch (mode) {
    case Holder::Mode::exclusive: return "exclusive";
    case Holder::Mode::read: return "read";
    case Holder::Mode::write: return "write";
    case Holder::Mode::permit: return "permit";
  }
  return "exclusive";
}

/// The TTL in milliseconds; -1: it has none.
Json ttl(const std::optional<Milliseconds>& ttl) { return ttl.value_or(Milliseconds{-1}); }

Json facts_json(const std::optional<Metadata>& facts) {
  if (!facts) return nullptr;
  std::map<std::string, Json> safe;
  for (const auto& [name, value] : facts->labels) safe.emplace(redacted(name), value);
  const Json::Fields labels{safe.begin(), safe.end()};
  return Json::object({{"host", facts->host},
                       {"pid", facts->pid},
                       {"user", facts->user},
                       {"command", facts->command},
                       {"reason", facts->reason},
                       {"labels", Json::object(labels)},
                       {"url", facts->url},
                       {"since", facts->since},
                       {"lease_ms", facts->lease},
                       {"renews", facts->renews},
                       {"renewed_at", facts->renewed},
                       {"ended_at", facts->ended_at},
                       {"exit", facts->exit}});
}

/// The permit's id in the form of `rlock permit`.
std::optional<std::string> permit_id(const Holder& holder) {
  if (holder.permit.empty()) return std::nullopt;
  return to_hex(holder.permit);
}

}  // namespace

Json holder_json(const Holder& holder) {
  return Json::object({{"owner", holder.owner.str()},
                       {"mode", Json::word(name_of(holder.mode))},
                       {"count", holder.count},
                       {"ttl_ms", ttl(holder.ttl)},
                       {"fence", holder.fence},
                       {"slot", holder.slot},
                       {"permit_id", permit_id(holder)},
                       {"meta", facts_json(holder.facts)}});
}

namespace {

Json waiters_json(const std::vector<Waiter>& waiters) {
  std::vector<Json> items;
  for (const Waiter& waiter : waiters)
    items.push_back(Json::object({{"owner", waiter.owner},
                                  {"position", items.size() + 1},
                                  {"ttl_ms", waiter.ttl},
                                  {"meta", facts_json(waiter.facts)},
                                  {"since", waiter.since}}));
  return Json::array(items);
}

}  // namespace

Json inspection_json(const Inspection& seen) {
  const Json permits =
      seen.available ? Json::object({{"available", seen.available}, {"total", seen.total}}) : Json{};
  return Json::object({{"key", seen.name},
                       {"name", typed(seen.name)},
                       {"type", Json::word(type_of(seen))},
                       {"state", Json::word(state_name(seen.state))},
                       {"ttl_ms", ttl(seen.ttl)},
                       {"holders", Json::list(seen.holders, holder_json)},
                       {"more_holders", seen.unnamed},
                       {"waiters", waiters_json(seen.waiters)},
                       {"subscribers", seen.waiting()},
                       {"permits", permits},
                       {"count", seen.count},
                       {"fence", seen.fence},
                       {"server", seen.server},
                       {"stale", is_stale(seen)},
                       {"last", seen.last ? past_json(*seen.last) : Json{}}});
}

Json inspection_document(const std::vector<Inspection>& inspections, bool complete) {
  return Json::document({{"complete", complete}, {"keys", Json::list(inspections, inspection_json)}});
}

std::string InspectionPages::next(const Inspection& seen) {
  return (std::exchange(begun_, true) ? "," : R"({"v":1,"keys":[)") + inspection_json(seen).str();
}

std::string InspectionPages::end(bool complete) const {
  return R"(],"complete":)" + Json{complete}.str() + "}";
}

}  // namespace rlock
