// Finds the node for a call in a Cluster. slots_ says which address serves each of the 16384 slots, and nodes_ has a
// Link for each address in use. connection_for() goes from the key to its slot, its address and its link.
//
// The map is a copy of the answer of one node, and it becomes outdated. One sign of that is the error MOVED, READONLY
// or CLUSTERDOWN. The others are a slot without a node, a failing node, an abandoned connection, and an ended
// subscription. All signs set stale_, and then a SlotSearch asks one node after the other for CLUSTER SLOTS. The first
// good answer replaces the whole map. Calls wait for a search only if there is no map, or if their node fails.
//
//   MOVED  The slot has another node: slots_ changes at once, and the call is sent again.
//   ASK    The slot is moving: only this call goes to the other node, with ASKING before it.
//
// However many calls fail, the Backoff spaces out the searches.

#include "redis/route/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/log.h"

namespace rlock {
Cluster::Cluster(Loop& loop, const Target& target, const Timeouts& timeouts)
    : loop_(loop),
      target_(target),
      tls_(tls_context(target.tls)),
      timeouts_(timeouts),
      search_(timeouts.share_of_one(target.addresses.size()), target.tls.on) {}

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
/// to where ASK sent it, or to the node of its slot. A call whose node fails waits for the search. If
/// none may begin yet, it gets what there is: a connection, or the reason.
Route::Choice Cluster::connection_for(std::string_view key, TimePoint now) {
  advance(now);
  if (stale_) search_if_due(now);
  if (asking_ && asking_->first == key) {  // after Verdict::asking, Attempts asks again at once
    const Address to = std::exchange(asking_, std::nullopt)->second;
    if (Connection* connection = node(to).connection(now)) return connection;
  }
  if (search_.going_on() && slots_.empty()) return NotYet{};
  if (slots_.empty()) return search_.failure().value_or(no_answer());

  const Address* serving = slots_.node_of(slot_of(key));
  if (serving == nullptr) {
    mark_stale(now);
    return Failure{Error::unreachable, slots_.why_no_node(slot_of(key))};
  }
  Link& link = key.empty() ? any_node(*serving) : node(*serving);
  Connection* const connection = link.connection(now);
  if (link.failing()) {  // its replica may have taken over
    mark_stale(now);
    if (search_.going_on()) {
      awaited_ = true;
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

/// The map may be wrong.
void Cluster::mark_stale(TimePoint now) {
  stale_ = true;
  search_if_due(now);
}

/// Many calls may notice the same dead node, but there is only one search at a time.
void Cluster::search_if_due(TimePoint now) {
  if (!search_.going_on() && backoff_.due(now)) begin_search(now);
}

/// Lists whom to ask: first the nodes that have answered before, then the addresses of the URL, which may be
/// old. They are asked from the end of the list.
void Cluster::begin_search(TimePoint now) {
  stale_ = false;
  awaited_ = false;
  backoff_.began(now);
  std::vector<Link*> to_ask;
  for (const Address& address : target_.addresses) to_ask.push_back(&node(address));
  std::ranges::reverse(to_ask);
  for (const auto& [address, link] : nodes_) {
    const bool alive = !link->failing() && link->contacted();
    if (alive) to_ask.push_back(link.get());
  }
  search_.begin(std::move(to_ask), now);
  take_result(now);
}

void Cluster::advance(TimePoint now) {
  for (auto& [address, link] : nodes_)
    if (link->take_misplaced()) stale_ = true;
  if (!search_.going_on()) return;
  search_.advance(now);
  take_result(now);
}

/// Does nothing while the search goes on.
void Cluster::take_result(TimePoint now) {
  if (search_.going_on()) return;
  if (!search_.found()) {
    // The old map stays, because it may be right, and there is no better one.
    stale_ = true;
    // A search that nobody answered has not lasted, however long it took. In the pause behind it the calls see the
    // reason.
    backoff_.began(now);
  }
  backoff_.ended(now);
  if (search_.found()) learn(*std::move(search_.found()));
}

void Cluster::learn(SlotMap&& map) {
  for (const auto& [channel, link] : watched_) {
    const std::uint16_t slot = slot_of(channel.str());
    note_move(slot, map.node_of(slot));
  }
  slots_ = std::move(map);
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

/// When the search can go on, or when a caller that only listens wants the next one.
TimePoint Cluster::wake_at() const {
  const auto misplaced = [](const auto& node) { return node.second->has_misplaced(); };
  if (std::ranges::any_of(nodes_, misplaced)) return TimePoint::min();
  if (search_.going_on()) return search_.wake_at();
  // A call starts a search by itself.
  return stale_ && !watched_.empty() ? backoff_.next() : kNever;
}

void Cluster::ready(short, TimePoint now) {
  advance(now);
  if (stale_ && !watched_.empty()) mark_stale(now);
}

}  // namespace rlock
