#include "cmd/view/inspection.h"

#include <fmt/format.h>

namespace rlock {
namespace {

/// Of one server, silence is a failure at once: it would not answer the next call either.
Votes ask_for_facts(Session& session, const Call& call) {
  if (session.redis.nodes() > 1) return session.any_answers(call);
  Vote vote;
  vote.reply = session.any_answer(call);
  return {vote};
}

void count_listeners_of(Session& session, std::vector<Inspection>& seen,
                        const std::vector<std::size_t>& nodes) {
  const Votes counts = session.any_answers(count_listeners(agreed(seen)));
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (const auto& reply = counts[nodes[i]].reply) seen[i].subscribers = read_listeners(*reply);
}

}  // namespace

Views inspect_each(Session& session, const LockName& name) {
  InspectionSteps steps{name};
  while (const auto& call = steps.call())
    steps.read(steps.asks_the_key() ? session.ask_each(*call) : ask_for_facts(session, *call));
  Views views;
  std::vector<std::size_t> nodes;  // of each of views.seen
  std::optional<Failure> misshapen;
  for (std::size_t node = 0; node < steps.views().size(); ++node) {
    const InspectionSteps::View& view = steps.views()[node];
    if (const auto* failure = std::get_if<Failure>(&view)) {
      views.silent.push_back(fmt::format("{}: {}", session.redis.str(node), failure->text));
      if (failure->kind == Error::internal) misshapen = *failure;
      continue;
    }
    views.seen.push_back(std::get<Inspection>(view));
    nodes.push_back(node);
    if (session.redis.nodes() > 1) views.seen.back().server = session.redis.str(node);
  }
  if (misshapen && views.seen.size() < session.redis.quorum()) misshapen->fly();
  count_listeners_of(session, views.seen, nodes);
  return views;
}

Inspection inspect(Session& session, const LockName& name) {
  return agreed(inspect_each(session, name).seen);
}

}  // namespace rlock
