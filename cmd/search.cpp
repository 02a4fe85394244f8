#include "cmd/search.h"

#include <fmt/format.h>

#include "redis/slots.h"
#include "sync/inspect.h"

namespace rlock {
namespace {

/// Looks through servers, one after the other.
class Search {
 public:
  Search(Session& session, TimePoint until) : session_(session), until_(until) {}

  /// Answers why this one could not be looked through.
  std::optional<Failure> look_through(Executor& server, bool cluster) {
    std::vector<std::string> nodes{""};
    if (cluster) {
      const auto slots = ask(server, ask_slots());
      if (!slots) return failure_;
      nodes = key_of_each_node(SlotMap::read(*slots, {}).value_or(SlotMap{}));
    }
    for (const std::string& node : nodes) {
      if (!scan(server, node)) return failure_;
    }
    return std::nullopt;
  }

  FoundKeys found() && { return std::move(found_); }

 private:
  /// `node`: a key that lives on the one that is meant.
  bool scan(Executor& server, const std::string& node) {
    std::string cursor = "0";
    do {
      if (Clock::now() >= until_) {
        found_.complete = false;
        return true;
      }
      const auto reply = ask(server, scan_facts(cursor, node));
      if (!reply) return false;
      Scanned scanned = read_scan(*reply);
      cursor = scanned.cursor;
      for (LockName& name : scanned.names) {
        if (name.str().starts_with(session_.deployment.prefix)) found_.names.insert(std::move(name));
      }
    } while (cursor != "0");
    return true;
  }

  std::optional<Reply> ask(Executor& server, const Call& call) {
    const Vote vote = server.run(call, session_.patience()).front();
    if (session_.signals.ended()) die_of(*session_.signals.ended());
    if (vote.answer() != nullptr) return *vote.answer();
    failure_ = vote.reply ? failure_of(*vote.reply) : vote.failure.value_or(failure_);
    return std::nullopt;
  }

  Session& session_;
  const TimePoint until_;
  FoundKeys found_;
  Failure failure_{Error::unreachable, "no answer"};
};

}  // namespace

FoundKeys search_keys(Session& session, TimePoint until) {
  Search search{session, until};
  if (session.redis.nodes() == 1) {
    if (const auto failure = search.look_through(session.redis, session.cluster())) session.fail(*failure);
    return std::move(search).found();
  }
  std::set<std::string> silent;
  std::optional<Failure> worst;
  for (const Target& target : session.deployment.targets) {
    Executor server{session.loop, {target}, {.timeouts = session.deployment.timeouts}};
    const auto failure = search.look_through(server, target.topology == Target::Topology::cluster);
    if (!failure) continue;
    worst = failure;
    silent.insert(fmt::format("{}: {}", server.str(), failure->text));
  }
  if (session.redis.nodes() - silent.size() < session.redis.quorum()) session.fail(*worst);
  FoundKeys found = std::move(search).found();
  found.silent = std::move(silent);
  return found;
}

}  // namespace rlock
