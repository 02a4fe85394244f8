// search() scans one server after the other, or one primary of a Cluster after the other, and unites what they have.
// Each step of a scan takes these calls:
//
//   SCAN         It names keys, of which some stand beside a lock and tell its name.
//   take_named() The key beside "x" may also belong to "{x}". So it asks which of the two exist.
//   ask_about()  The other keys may be anything. So it asks for their content, and takes those that are locks or
//                numbers.
//
// If the time or the memory is over, the names that were found until then are the result (FoundKeys::cut_short).
// If a server is silent, only its own scan ends, as long as a quorum of the others can be searched. All of several
// servers are asked by PING at once, and those that answer are scanned. So the silent ones are waited for together, and
// while others are scanned. When a quorum has been scanned, they get a moment more.

#include "cmd/ask/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "base/text.h"
#include "redis/enough.h"
#include "redis/route/slots.h"
#include "sync/watch/scan.h"

namespace rlock {
namespace {

/// The memory of a name in addition to its text.
constexpr std::size_t kNameTakes = 128;

/// One script call asks about this many keys. It blocks the server for about half a millisecond.
constexpr std::size_t kAskedTogether = 200;

/// At most this many of these calls are sent at a time, and fewer if they ask about kAskedTogether keys. In a
/// Cluster, most keys need a call of their own.
constexpr std::size_t kCallsAtOnce = 32;

using Names = std::vector<LockName>;

/// Searches servers, one after the other.
class Search {
 public:
  Search(Session& session, const SearchOptions& options) : session_(session), options_(options) {}

  /// Searches the only server.
  void look_through_it() {
    if (const auto failure = look_through(0)) session_.fail(*failure);
  }

  /// Searches the servers that answer. Throws Error if they cannot be a quorum.
  void look_through_all() {
    const TimePoint deadline = session_.patience().until;
    const Redis::Request pings = session_.redis.post(command({"PING"}), with_retries(), deadline);
    Enough enough{kAnswerGrace, session_.now()};
    for (;;) {
      note_failures(pings.votes());
      require_quorum();
      if (const auto next = next_to_search(pings.votes())) {
        Server& server = servers_[*next];
        server.failure = look_through(*next);
        server.searched = !server.failure;
        continue;
      }
      const auto done = static_cast<std::size_t>(std::ranges::count(servers_, true, &Server::searched));
      const TimePoint now = session_.now();
      const TimePoint until = enough.from(done >= session_.redis.quorum(), now);
      if (pings.settled() || now >= until) break;
      turn(earliest(deadline, until));
    }
    for (Server& server : servers_)
      if (server.awaited()) server.failure = no_answer();
    const std::vector<std::string> texts = texts_of_failures();
    found_.silent.insert(texts.begin(), texts.end());
  }

  FoundKeys found() && { return std::move(found_); }

 private:
  struct Server {
    bool searched = false;
    std::optional<Failure> failure{};  ///< why it cannot be searched

    bool awaited() const { return !searched && !failure; }
  };

  void note_failures(const Votes& pings) {
    for (std::size_t i = 0; i < servers_.size(); ++i)
      if (servers_[i].awaited() && pings[i].failure() != nullptr) servers_[i].failure = *pings[i].failure();
  }

  /// A server that has answered, and was not searched yet.
  std::optional<std::size_t> next_to_search(const Votes& pings) const {
    for (std::size_t i = 0; i < servers_.size(); ++i)
      if (servers_[i].awaited() && pings[i].settled()) return i;
    return std::nullopt;
  }

  void require_quorum() const {
    std::size_t lacking = 0;
    Error::Kind kind = Error::unreachable;
    for (const Server& server : servers_) {
      if (!server.failure) continue;
      ++lacking;
      kind = server.failure->kind;
    }
    if (!session_.redis.can_lack(lacking)) session_.fail({kind, joined(texts_of_failures(), "; ")});
  }

  std::vector<std::string> texts_of_failures() const {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < servers_.size(); ++i)
      if (const auto& failure = servers_[i].failure) texts.push_back(session_.redis.named(i, failure->text));
    return texts;
  }

  std::string server_name() const { return session_.redis.str(server_); }

  /// Searches one server. Returns why it could not be searched; empty: it was searched.
  std::optional<Failure> look_through(std::size_t server) {
    server_ = server;
    delivery_.send_only_to(server, session_.redis.nodes());
    std::vector<std::string> nodes{""};
    const bool cluster = session_.deployment.targets[server].topology == Target::Topology::cluster;
    if (cluster) {
      const auto slots = ask(ask_slots());
      if (!slots) return failure_;
      const auto map = SlotMap::read(*slots, {});
      if (!map || map->empty()) return knows_no_slots(server_name());
      nodes = map->key_of_each_node();
    }
    std::size_t missing = 0;
    for (const std::string& node : nodes) {
      if (scan(node)) continue;
      const bool others_do = cluster && options_.without_shards && failure_.kind == Error::unreachable;
      if (!others_do || ++missing == nodes.size()) return failure_;
      found_.shard_missing = true;
      found_.silent.insert(
          fmt::format("rlock cannot search a shard of {}: {}", server_name(), failure_.text));
    }
    return std::nullopt;
  }

  std::vector<ScanPass> passes() const {
    switch (options_.what) {
      case SearchFor::facts: return {ScanPass::facts};
      case SearchFor::numbers: return {ScanPass::texts};
      case SearchFor::all: break;
    }
    return {ScanPass::hashes, ScanPass::texts};
  }

  bool scan(const std::string& node) {
    return std::ranges::all_of(passes(), [&](ScanPass pass) { return scan(pass, node); });
  }

  /// `node`: any key of the cluster node to scan.
  bool scan(ScanPass pass, const std::string& node) {
    // SearchFor::all also reads the keys beside locks, which do not begin with the prefix.
    const std::string prefix = options_.what == SearchFor::all ? "" : session_.deployment.prefix;
    std::string cursor = "0";
    do {
      if (session_.now() >= options_.until) cut(CutShort::late);
      if (found_.cut_short) return true;
      const auto reply = ask(scan_step(pass, cursor, prefix, node));
      if (!reply) return false;
      Scanned step = read_step(pass, *reply);
      cursor = step.cursor;
      std::erase_if(step.doubtful, [&](const LockName& name) { return !is_wanted(name); });
      if (!take_named(step.names, !node.empty()) || !ask_about(pass, groups(step.doubtful, !node.empty())))
        return false;
      options_.progress({.steps = ++steps_, .found = found_.names.size()});
    } while (cursor != "0");
    return true;
  }

  /// Takes the names of locks that a key beside them tells. The key beside "x" may also belong to "{x}". Then
  /// takes each of the two that exists, or "x" if neither does. Returns false if the server is silent.
  bool take_named(const Names& names, bool cluster) {
    Names shared;
    for (const LockName& name : names) {
      const LockName other = other_name(name);
      if (other.empty() || !is_wanted(other)) {
        take(name);
      } else {
        shared.insert(shared.end(), {name, other});
      }
    }
    const std::size_t unread_before = unread_;
    if (!ask_about(ScanPass::named, groups(shared, cluster))) return false;
    if (unread_ > unread_before || found_.cut_short) return true;  // we do not know that neither exists
    for (std::size_t i = 0; i < shared.size(); i += 2)
      if (!found_.names.contains(shared[i + 1])) take(shared[i]);
    return true;
  }

  bool is_wanted(const LockName& name) const {
    return name.str().starts_with(session_.deployment.prefix) && options_.wanted(name);
  }

  void take(const LockName& name) {
    if (!is_wanted(name) || !found_.names.insert(name).second) return;
    bytes_ += name.str().size() + kNameTakes;
    if (bytes_ > options_.most_bytes) cut(CutShort::too_many);
  }

  void cut(CutShort why) {
    if (!found_.cut_short) found_.cut_short = why;
  }

  /// Groups the names by call: in a Cluster a call takes names of one slot.
  static std::vector<Names> groups(const Names& names, bool cluster) {
    std::map<int, Names> by_slot;
    std::vector<Names> groups;
    for (const LockName& name : names) {
      Names& group = by_slot[cluster ? slot_of(name.str()) : 0];
      group.push_back(name);
      if (group.size() == kAskedTogether) groups.push_back(std::exchange(group, {}));
    }
    for (auto& [slot, group] : by_slot)
      if (!group.empty()) groups.push_back(std::move(group));
    return groups;
  }

  /// Asks about the content of these keys, and keeps the wanted ones. If the user may not read one key, or one
  /// lies in a slot that moves, the server refuses the whole group. Then each key of the group is asked about
  /// alone, and refused keys are ignored. Returns false if the server is silent (failure_).
  bool ask_about(ScanPass pass, std::span<const Names> groups) {
    std::vector<Names> refused;
    while (!groups.empty() && session_.now() < options_.until) {
      const std::span<const Names> batch = groups.first(batch_size(groups));
      const std::vector<Vote> votes = votes_on(pass, batch);
      bool silent = false;
      for (std::size_t i = 0; i < batch.size(); ++i)
        silent = !take_answer(batch[i], votes[i], refused) || silent;
      if (silent) return false;
      groups = groups.subspan(batch.size());
    }
    if (!groups.empty()) cut(CutShort::late);
    return refused.empty() || ask_about(pass, refused);  // once more: of these groups, each is one key
  }

  /// How many of these groups are asked about at a time.
  static std::size_t batch_size(std::span<const Names> groups) {
    const std::size_t most = std::min(groups.size(), kCallsAtOnce);
    std::size_t calls = 0;
    for (std::size_t keys = 0; calls < most && keys < kAskedTogether; ++calls) keys += groups[calls].size();
    return calls;
  }

  /// Takes the wanted names of a group. The keys of a refused group go to `refused`, each alone. Returns false if the
  /// server is silent (failure_).
  bool take_answer(const Names& group, const Vote& vote, std::vector<Names>& refused) {
    const Failure* const failure = vote.failure();
    const bool unreachable = failure != nullptr && failure->kind == Error::unreachable;
    if (const Reply* reply = vote.good_reply()) {
      for (const LockName& name : read_content(group, *reply)) take(name);
    } else if (unreachable && !failure->answered) {
      failure_ = *failure;
      return false;
    } else if (group.size() > 1) {
      for (const LockName& name : group) refused.push_back({name});
    } else if (unreachable) {
      found_.unread = *failure;
      ++unread_;
    }
    return true;
  }

  std::vector<Vote> votes_on(ScanPass pass, std::span<const Names> batch) {
    const TimePoint deadline = session_.patience().until;
    std::vector<Redis::Request> requests;
    for (const Names& group : batch)
      requests.push_back(session_.redis.post(ask_content(pass, group), delivery_, deadline));
    std::vector<Vote> votes;
    for (const Redis::Request& request : requests) votes.push_back(answered(request, deadline));
    return votes;
  }

  std::optional<Reply> ask(const Call& call) {
    const TimePoint deadline = session_.patience().until;
    const Vote vote = answered(session_.redis.post(call, delivery_, deadline), deadline);
    if (vote.good_reply() != nullptr) return *vote.good_reply();
    failure_ = vote.trouble().value_or(failure_);
    return std::nullopt;
  }

  Vote answered(const Redis::Request& request, TimePoint deadline) {
    while (!request.settled()) turn(deadline);
    // A signal may have ended the wait for a password, so that the call failed at once.
    session_.check_signals();
    const Vote& vote = request.votes()[server_];
    if (const Failure* failure = vote.failure(); failure != nullptr && !failure->answered)
      delivery_.retry = Delivery::Retry::never;
    return vote;
  }

  void turn(TimePoint until) {
    if (options_.turn) return options_.turn(until);
    session_.loop.turn(until);
    session_.check_signals();
  }

  Session& session_;
  const SearchOptions& options_;
  std::size_t server_ = 0;  ///< the one that is searched
  FoundKeys found_;
  std::size_t bytes_ = 0;  ///< memory of the names found
  std::size_t steps_ = 0;
  std::size_t unread_ = 0;  ///< keys that could not be asked about (FoundKeys::unread)
  std::vector<Server> servers_ = std::vector<Server>(session_.redis.nodes());
  Failure failure_ = no_answer();
  /// To server_. After a call without an answer in spite of retries, none is retried.
  Delivery delivery_ = with_retries();
};

}  // namespace

std::string SearchProgress::text() const {
  return fmt::format("searched about {},000 keys, found {}", steps, found);
}

FoundKeys search(Session& session, const SearchOptions& options) {
  Search search{session, options};
  if (session.redis.nodes() == 1) {
    search.look_through_it();
  } else {
    search.look_through_all();
  }
  return std::move(search).found();
}

}  // namespace rlock
