// Finds the node for a call in a Cluster. slots_ says which address serves each of the 16384 slots, and nodes_ has a
// Link for each address in use. connection_for() goes from the key to its slot, its address and its link.
//
// The map is a copy of the answer of one node, and it becomes outdated. One sign of that is the error MOVED, READONLY
// or CLUSTERDOWN. The others are a slot without a node, a failing node, an abandoned connection, and an ended
// subscription. All signs set stale_, and then a SlotQuery asks one node after the other for CLUSTER SLOTS. The first
// good answer replaces the whole map. Calls wait for a slot query only if there is no map, or if their node fails.
//
//   MOVED  The slot has another node: slots_ changes at once, and the call is sent again.
//   ASK    The slot is moving: only this call goes to the other node, with ASKING before it.
//
// A failover takes some seconds, and any node may be the dead one. So a slot query gives each node only a share of
// the time. However many calls fail, the Backoff spaces out the slot queries.

#include "redis/route/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/log.h"

namespace rlock {
namespace {

/// If no node has given a better reason.
Failure no_node_answers() { return {Error::unreachable, "no node of the cluster answers"}; }

}  // namespace

Cluster::Cluster(Loop& loop, const Target& target, const Timeouts& timeouts)
    : loop_(loop), target_(target), tls_(tls_context(target.tls)), timeouts_(timeouts) {}

/// The link to this address. It is made here, and connects when it is first asked for a connection.
Link& Cluster::node(const Address& address) {
  auto& link = nodes_[{address.host, address.port}];
  if (!link) link = std::make_unique<Link>(loop_, target_, tls_, address, timeouts_);
  return *link;
}

/// The link that has this connection. Null: the connection is closed.
Link* Cluster::link_of(ConnectionNumber connection) {
  for (auto& [address, link] : nodes_)
    if (link->find(connection) != nullptr) return link.get();
  return nullptr;
}

// --- calls ---------------------------------------------------------------------------------------

/// First takes in what has been read, and asks for a new map if it is time. Then looks where the call goes:
/// to where ASK sent it, or to the node of its slot. A call whose node fails waits for the slot query. If
/// none may begin yet, it gets what there is: a connection, or the reason.
Route::Choice Cluster::connection_for(std::string_view key, TimePoint now) {
  advance(now);
  if (!query_ && stale_ && backoff_.due(now)) begin_query(now);
  if (asking_ && asking_->first == key) {  // after Verdict::asking, Attempts asks again at once
    const Address to = std::exchange(asking_, std::nullopt)->second;
    if (Connection* connection = node(to).connection(now)) return connection;
  }
  if (query_ && slots_.empty()) return NotYet{};
  if (slots_.empty()) return failure_.value_or(no_node_answers());

  const Address* serving = slots_.node_of(slot_of(key));
  if (serving == nullptr) {
    mark_stale(now);
    return Failure{Error::unreachable, slots_.why_no_node(slot_of(key))};
  }
  Link& link = key.empty() ? any_node(*serving) : node(*serving);
  Connection* const connection = link.connection(now);
  if (link.failing()) {  // its replica may have taken over
    mark_stale(now);
    if (query_) {
      query_->awaited = true;
      return NotYet{};
    }
  }
  if (connection != nullptr) return connection;
  return of_server(link.address().str(), link.failure().value_or(no_answer()));
}

/// For a call without a key: `first`, or another node that has answered, if that one fails.
Link& Cluster::any_node(const Address& first) {
  Link& wanted = node(first);
  if (!wanted.failing()) return wanted;
  const auto works = [](const auto& one) { return one.second->contacted() && !one.second->failing(); };
  const auto other = std::ranges::find_if(nodes_, works);
  return other != nodes_.end() ? *other->second : wanted;
}

/// What an error says about the map. A redirection names the right node, so the call is sent again at once.
/// With other signs of an outdated map the call is sent again after a pause, when there may be a new map.
Route::Verdict Cluster::judge(ConnectionNumber connection, const Reply& error, std::string_view key,
                              TimePoint) {
  Link* const link = link_of(connection);
  const Address asked = link != nullptr ? link->address() : Address{};
  if (const auto redirection = read_redirection(error, asked)) {
    debug(fmt::format("redirected by {} to {}", asked.str(), redirection->to.str()));
    if (error.is_error("ASK")) {
      asking_.emplace(key, redirection->to);
      return Verdict::asking;
    }
    note_move(redirection->slot, &redirection->to);
    slots_.move(redirection->slot, redirection->to);
    stale_ = true;  // a slot seldom moves alone
    return Verdict::again;
  }
  // READONLY: the node is a replica now. MOVED: read_redirection() could not read it.
  if (error.is_error("CLUSTERDOWN") || error.is_error("READONLY") || error.is_error("MOVED")) {
    stale_ = true;
    return Verdict::later;
  }
  return is_passing(error) ? Verdict::later : Verdict::deliver;
}

std::set<std::string> Cluster::run_ids() const {
  std::set<std::string> ids;
  for (const auto& [address, link] : nodes_) ids.insert(link->run_id());
  return ids;
}

/// A node without an answer may be dead, and its replica may have taken over its slots.
void Cluster::abandon(ConnectionNumber connection, TimePoint now) {
  if (Link* link = link_of(connection)) link->abandon(connection, now);
  stale_ = true;
}

void Cluster::send_on_abandoned(const std::vector<Call>& calls) {
  for (auto& [address, link] : nodes_) link->send_on_abandoned(calls);
}

Connection* Cluster::find(ConnectionNumber connection) {
  Link* const link = link_of(connection);
  return link != nullptr ? link->find(connection) : nullptr;
}

std::string Cluster::server_of(ConnectionNumber connection) {
  const Link* const link = link_of(connection);
  return link != nullptr ? link->address().str() : std::string{};
}

std::uint64_t Cluster::losses() const {
  std::uint64_t sum = old_losses_;
  for (const auto& [address, link] : nodes_) sum += link->losses();
  return sum;
}

bool Cluster::contacted() const {
  return contacted_ || std::ranges::any_of(nodes_, [](const auto& node) { return node.second->contacted(); });
}

// --- which node serves which slots ----------------------------------------------------------------

/// The map may be wrong. Many calls may notice the same dead node, but there is only one slot query at a
/// time.
void Cluster::mark_stale(TimePoint now) {
  stale_ = true;
  if (!query_ && backoff_.due(now)) begin_query(now);
}

/// Lists whom to ask: first the nodes that have answered before, then the addresses of the URL, which may be
/// old. They are asked from the end of the list.
void Cluster::begin_query(TimePoint now) {
  stale_ = false;
  backoff_.began(now);
  SlotQuery query;
  query.to_ask = target_.addresses;
  std::ranges::reverse(query.to_ask);  // the last one is asked first
  for (const auto& [address, link] : nodes_) {
    const bool alive = !link->failing() && link->contacted();
    if (alive) query.to_ask.push_back(link->address());  // nodes that answered before come first
  }
  query_ = std::move(query);
  ask_next(now);
}

/// Asks the next node of the list. One to which there can be no connection now is left out.
void Cluster::ask_next(TimePoint now) {
  while (!query_->to_ask.empty()) {
    const Address address = query_->to_ask.back();
    query_->to_ask.pop_back();
    std::erase(query_->to_ask, address);  // an address may be in the URL and in the map
    Link& link = node(address);
    Connection* const connection = link.connection(now);
    if (connection == nullptr) {
      keep_reason(of_server(address.str(), link.failure().value_or(no_answer())));
      continue;
    }
    query_->asked = &link;
    query_->connection = connection->number();
    query_->in_flight = connection->send(ask_slots());
    query_->ends = plus(now, timeouts_.share_of_one(target_.addresses.size()));
    return;
  }
  // No node gave an answer. The old map stays, because it may be right, and there is no better one.
  failure_ = query_->best_reason.value_or(no_node_answers());
  stale_ = true;
  // A query that nobody answered has not lasted, however long it took. In the pause behind it the calls see the reason.
  backoff_.began(now);
  finish(now);
}

/// Learns from the answer to the slot query. If there will be none (the connection broke, or the share of the
/// time is over), asks the next node.
void Cluster::advance(TimePoint now) {
  for (auto& [address, link] : nodes_)
    if (link->take_misplaced()) stale_ = true;
  if (!query_) return;
  if (query_->in_flight->reply) return learn(*query_->in_flight->reply, now);

  Connection* const connection = query_->asked->find(query_->connection);
  const bool silent = now >= query_->ends;
  if (connection != nullptr && !connection->failure() && !silent) return;
  query_->in_flight->forgotten = true;  // a slow node may still answer; the answer is ignored
  Link& link = *query_->asked;
  Connection* const newer = silent ? nullptr : link.connection(now);
  // The link has opened another connection at once, for example in RESP2. Asks on that one.
  if (newer != nullptr && newer->number() != query_->connection) {
    query_->connection = newer->number();
    query_->in_flight = newer->send(ask_slots());
    return;
  }
  std::optional<Failure> why = link.failure();
  if (connection != nullptr && !why) why = connection->failure();
  if (connection != nullptr && !why && !connection->open()) why = {Error::unreachable, connection->silence()};
  pass(of_server(link.address().str(), why.value_or(no_answer())), now);
}

/// Replaces the map by that of the answer. A node that knows no map is passed over.
void Cluster::learn(const Reply& reply, TimePoint now) {
  const std::string who = query_->asked->address().str();
  if (reply.is_error()) {
    if (reply.text().find("cluster support disabled") != std::string::npos)
      return pass({Error::config,
                   fmt::format("{} is no cluster; use --url {}", who,
                               url_of(Target::Topology::single, query_->asked->address(), target_.tls.on))},
                  now);
    return pass(of_server(who, failure_of(reply)), now);
  }
  // A node may leave its own address empty: then the address that we asked counts.
  auto map = SlotMap::read(reply, query_->asked->address());
  if (!map || map->empty()) return pass(knows_no_slots(who), now);
  for (const auto& [channel, link] : watched_) {
    const std::uint16_t slot = slot_of(channel.str());
    note_move(slot, map->node_of(slot));
  }
  slots_ = *std::move(map);
  failure_.reset();
  finish(now);
  subscribe();     // channels move with their slots
  forget_nodes();  // after subscribe(), because a node that we listen to is needed
}

/// Call before the slot gets a new node. That node may lack what the one before it has told us: it may be a
/// replica that took over.
void Cluster::note_move(std::uint16_t slot, const Address* to) {
  const Address* const from = slots_.node_of(slot);
  if (from != nullptr && to != nullptr && *from != *to) ++old_losses_;
}

/// Forgets nodes that serve no slots any more, when no call to them is in flight. A wait of days may see many
/// nodes come and go.
void Cluster::forget_nodes() {
  const auto needed = [&](const Link& link) {
    const auto is_it = [&](const Address& address) { return address == link.address(); };
    const auto listens = [&](const auto& watched) { return watched.second == &link; };
    return slots_.has(link.address()) || std::ranges::any_of(target_.addresses, is_it) ||
           std::ranges::any_of(watched_, listens) || !link.at_rest();
  };
  std::erase_if(nodes_, [&](const auto& node) {
    const Link& link = *node.second;
    if (needed(link)) return false;
    old_wakeups_ += link.wakeups();  // these sums must never shrink
    old_losses_ += link.losses();
    contacted_ = contacted_ || link.contacted();
    return true;
  });
}

/// This node gave no usable answer, so the next one is asked.
void Cluster::pass(Failure why, TimePoint now) {
  keep_reason(std::move(why));
  ask_next(now);
}

/// Of all reasons, the most helpful one is kept.
void Cluster::keep_reason(Failure why) {
  const std::optional<Failure>& best = query_->best_reason;
  const bool says_less = best && best->needs_a_person() && !why.needs_a_person();
  if (!says_less) query_->best_reason = std::move(why);
}

void Cluster::finish(TimePoint now) {
  query_.reset();
  backoff_.ended(now);
}

// --- announcements -------------------------------------------------------------------------------

/// Subscribes to each channel on the node that serves its slot now.
void Cluster::subscribe() {
  for (auto& [channel, listened] : watched_) {
    const Address* serving = slots_.node_of(slot_of(channel.str()));
    Link* const right = serving != nullptr ? &node(*serving) : listened;
    if (right == listened) {
      // This sends SSUBSCRIBE only if the node has ended or refused the subscription since.
      if (right != nullptr) right->watch({.channel = channel, .sharded = true});
      continue;
    }
    if (listened != nullptr) {
      // The channel's slot has moved. Calls find the new node by themselves, but subscriptions do not.
      debug(fmt::format("redirected by {} to {}", listened->address().str(), right->address().str()));
      listened->unwatch({.channel = channel, .sharded = true});
      listened->unwatch({.channel = channel});
    }
    right->watch({.channel = channel, .sharded = true});
    right->watch({.channel = channel});
    listened = right;
  }
}

void Cluster::watch(const Channel& channel) {
  if (watched_.emplace(channel, nullptr).second) subscribe();
}

void Cluster::unwatch(const Channel& channel) {
  const auto found = watched_.find(channel);
  if (found == watched_.end()) return;
  if (Link* link = found->second) {
    link->unwatch({.channel = channel, .sharded = true});
    link->unwatch({.channel = channel});
  }
  watched_.erase(found);
}

/// Each node counts its own messages, so this is the sum of them all, with those that are forgotten.
std::uint64_t Cluster::wakeups() const {
  std::uint64_t sum = old_wakeups_;
  for (const auto& [address, link] : nodes_) sum += link->wakeups();
  return sum;
}

std::vector<Message> Cluster::take_messages() {
  std::vector<Message> all;
  for (const auto& [address, link] : nodes_)
    std::ranges::move(link->take_messages(), std::back_inserter(all));
  return all;
}

/// As in Executor, there is no error while one node sends messages.
const std::optional<std::string>& Cluster::subscribe_error() const {
  static const std::optional<std::string> none;
  for (const auto& [channel, link] : watched_)
    if (link == nullptr || !link->subscribe_error()) return none;
  return watched_.empty() ? none : watched_.begin()->second->subscribe_error();
}

// --- the source ----------------------------------------------------------------------------------

/// When the slot query can go on, or when a caller that only listens wants the next one.
TimePoint Cluster::wake_at() const {
  const auto misplaced = [](const auto& node) { return node.second->has_misplaced(); };
  if (std::ranges::any_of(nodes_, misplaced)) return TimePoint::min();
  if (query_) {
    const Connection* connection = query_->asked->find(query_->connection);
    const bool moved = query_->in_flight->reply || connection == nullptr || connection->failure();
    return moved ? TimePoint::min() : query_->ends;
  }
  // A call starts a slot query by itself.
  return stale_ && !watched_.empty() ? backoff_.next() : kNever;
}

void Cluster::ready(short, TimePoint now) {
  advance(now);
  if (stale_ && !watched_.empty()) mark_stale(now);
}

}  // namespace rlock
