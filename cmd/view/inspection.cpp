#include "cmd/view/inspection.h"

#include <fmt/format.h>

#include <algorithm>

namespace rlock {
namespace {

bool holds(const Inspection& seen, const Owner& owner) {
  return std::ranges::find(seen.holders, owner, &Holder::owner) != seen.holders.end();
}

/// What each of them has written down; nothing where it may not be read.
std::vector<KnownFacts> known_facts(Session& session, const LockName& name) {
  std::vector<KnownFacts> known;
  if (session.redis.nodes() == 1) return {read_facts(session.any_answer(ask_facts(name)))};
  for (const Vote& vote : session.any_answers(ask_facts(name)))
    known.push_back(vote.reply ? read_facts(*vote.reply) : KnownFacts{});
  return known;
}

/// Permits are known by the owners who have written something down; who counts them is one server.
Facts all_facts(const std::vector<KnownFacts>& known) {
  Facts all;
  for (const KnownFacts& some : known) all.insert(some.facts.begin(), some.facts.end());
  return all;
}

std::string why(const Vote& vote) {
  if (vote.reply) return failure_of(*vote.reply).text;
  return vote.failure ? vote.failure->text : "no answer";
}

}  // namespace

Views inspect_each(Session& session, const LockName& name) {
  const bool several = session.redis.nodes() > 1;
  std::vector<KnownFacts> known = known_facts(session, name);
  const Votes votes = session.ask_each(inspect_key(name, all_facts(known)));
  const auto unknown_at = [&](std::size_t node) {
    const Reply* answer = votes[node].good_reply();
    return answer != nullptr && lacks_facts(read_inspection(name, known[node], *answer));
  };
  bool unknown = false;
  for (std::size_t node = 0; node < votes.size(); ++node) unknown = unknown || unknown_at(node);
  if (unknown) known = known_facts(session, name);
  Views views;
  for (std::size_t node = 0; node < votes.size(); ++node) {
    const Reply* answer = votes[node].good_reply();
    if (answer == nullptr) {
      views.silent.push_back(fmt::format("{}: {}", session.redis.str(node), why(votes[node])));
      continue;
    }
    views.seen.push_back(read_inspection(name, known[node], *answer));
    if (several) views.seen.back().server = session.redis.str(node);
  }
  const Votes counts = session.any_answers(count_listeners(agreed(views)));
  std::size_t seen = 0;
  for (std::size_t node = 0; node < votes.size(); ++node) {
    if (votes[node].good_reply() == nullptr) continue;
    if (counts[node].reply) views.seen[seen].subscribers = read_listeners(*counts[node].reply);
    ++seen;
  }
  return views;
}

std::size_t sights(const Views& views, const Owner& owner) {
  return static_cast<std::size_t>(
      std::ranges::count_if(views.seen, [&](const Inspection& seen) { return holds(seen, owner); }));
}

const Inspection& agreed(const Views& views, const std::optional<Owner>& owner) {
  const Inspection* best = &views.seen.front();
  std::size_t most = 0;
  for (const Inspection& seen : views.seen) {
    if (owner && holds(seen, *owner)) return seen;
    if (most == 0 && !seen.absent()) best = &seen;
    for (const Holder& holder : seen.holders) {
      if (sights(views, holder.owner) <= most) continue;
      most = sights(views, holder.owner);
      best = &seen;
    }
  }
  return *best;
}

Inspection inspect(Session& session, const LockName& name) { return agreed(inspect_each(session, name)); }

}  // namespace rlock
