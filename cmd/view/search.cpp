#include "cmd/view/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "redis/slots.h"
#include "sync/inspect.h"

namespace rlock {
namespace {

/// Names are kept that take so many bytes: fifty thousand,
/// as people call things. No server may fill our memory.
constexpr std::size_t kMostNames = 8U << 20;
constexpr std::size_t kNameTakes = 128;  ///< besides its text

/// Looks through servers, one after the other.
class Search {
 public:
  enum class For { facts, numbers };

  Search(Session& session, TimePoint until, For what) : session_(session), until_(until), what_(what) {}

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
      found_.late = Clock::now() >= until_;
      if (found_.late || found_.too_many) return true;
      const auto page =
          what_ == For::facts ? page_of_facts(server, cursor, node) : page_of_numbers(server, cursor, node);
      if (!page) return false;
      cursor = page->cursor;
      for (const LockName& name : page->names) take(name);
    } while (cursor != "0");
    return true;
  }

  void take(const LockName& name) {
    if (!name.str().starts_with(session_.deployment.prefix)) return;
    if (!found_.names.insert(name).second) return;
    bytes_ += name.str().size() + kNameTakes;
    found_.too_many = found_.too_many || bytes_ > kMostNames;
  }

  std::optional<Scanned> page_of_facts(Executor& server, const std::string& cursor, const std::string& node) {
    const auto reply = ask(server, scan_facts(cursor, node));
    if (!reply) return std::nullopt;
    return read_scan(*reply);
  }

  std::optional<Scanned> page_of_numbers(Executor& server, const std::string& cursor,
                                         const std::string& node) {
    const auto reply = ask(server, scan_texts(cursor, session_.deployment.prefix, node));
    if (!reply) return std::nullopt;
    Scanned page = read_texts(*reply);
    std::vector<LockName> numbers;
    for (const auto& group : together(page.names, !node.empty())) {
      if (Clock::now() >= until_) break;
      const auto answer = ask(server, ask_numbers(group));
      if (!answer) continue;  // that of another program, which we may not read
      std::ranges::copy(read_numbers(group, *answer), std::back_inserter(numbers));
    }
    page.names = std::move(numbers);
    return page;
  }

  /// Names of which one script may be told: in a cluster those of one slot.
  static std::vector<std::vector<LockName>> together(const std::vector<LockName>& names, bool cluster) {
    std::map<int, std::vector<LockName>> by_slot;
    for (const LockName& name : names) by_slot[cluster ? slot_of(name.str()) : 0].push_back(name);
    std::vector<std::vector<LockName>> groups;
    for (auto& [slot, group] : by_slot) groups.push_back(std::move(group));
    return groups;
  }

  std::optional<Reply> ask(Executor& server, const Call& call) {
    const Vote vote = server.run_all(call, persistently(), session_.patience()).front();
    if (session_.signals.ended()) die_of(*session_.signals.ended());
    if (vote.good_reply() != nullptr) return *vote.good_reply();
    failure_ = vote.reply ? failure_of(*vote.reply) : vote.failure.value_or(failure_);
    return std::nullopt;
  }

  Session& session_;
  const TimePoint until_;
  const For what_;
  FoundKeys found_;
  std::size_t bytes_ = 0;  ///< of the names found
  Failure failure_{Error::unreachable, "no answer"};
};

FoundKeys find_all(Session& session, TimePoint until, Search::For what) {
  Search search{session, until, what};
  if (session.redis.nodes() == 1) {
    if (const auto failure = search.look_through(session.redis, session.deployment.is_cluster()))
      session.fail(*failure);
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

}  // namespace

FoundKeys search_keys(Session& session, TimePoint until) {
  return find_all(session, until, Search::For::facts);
}

FoundKeys search_numbers(Session& session, TimePoint until) {
  return find_all(session, until, Search::For::numbers);
}

}  // namespace rlock
