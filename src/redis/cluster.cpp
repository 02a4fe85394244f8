// Where a call goes in a cluster. slots_ says which address serves each of the 16384 slots, nodes_ holds a
// Link for each address; connection_for() goes from the key to its slot, its address and its link.
//
// The map is a copy of what one node has said, and it ages. A redirection, a node that fails, an abandoned
// connection, a subscription that was sent away: each sets doubted_. Then a Survey asks one node after the
// other for CLUSTER SLOTS, and the first that can tell replaces the whole map. Calls do not wait for a survey
// unless there is no map at all.
//
//   MOVED  the slot has another home: slots_ is changed at once, and the call is sent again
//   ASK    the slot is on its way: only this call goes to the other node, with ASKING before it
//
// What shaped it: a failover takes some seconds, and each node may be the one that is gone. So a survey gives
// each node a share of the time only, and a pause (Backoff) lies between two surveys, however many calls
// fail.

#include "redis/cluster.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"

namespace rlock {
namespace {

/// How long one node may take to answer CLUSTER SLOTS before another one is asked.
constexpr Milliseconds kLeastShare{250};

}  // namespace

Cluster::Cluster(Loop& loop, const Target& target, const Timeouts& timeouts)
    : loop_(loop), target_(target), tls_(tls_context(target.tls)), timeouts_(timeouts) {
  loop_.join(*this);
}

Cluster::~Cluster() { loop_.leave(*this); }

Link& Cluster::node(const Address& address) {
  auto& link = nodes_[{address.host, address.port}];
  if (!link) link = std::make_unique<Link>(loop_, target_, tls_, address, timeouts_);
  return *link;
}

Link* Cluster::link_of(std::uint64_t connection) {
  for (auto& [address, link] : nodes_)
    if (link->find(connection) != nullptr) return link.get();
  return nullptr;
}

// --- calls ---------------------------------------------------------------------------------------

Route::Choice Cluster::connection_for(std::string_view key, TimePoint now) {
  advance(now);
  if (!survey_ && doubted_ && backoff_.due(now)) begin_survey(now);
  if (asking_ && asking_->first == key) {  // the executor asks again at once after Verdict::asking
    const Address to = std::exchange(asking_, std::nullopt)->second;
    if (Connection* connection = node(to).connection(now)) return connection;
  }
  if (connecting()) return NotYet{};
  if (slots_.empty()) return failure_.value_or(Failure{Error::unreachable, "no node of the cluster answers"});

  const Address* owner = slots_.owner(slot_of(key));
  if (owner == nullptr) {
    doubt(now);
    return Failure{Error::unreachable, fmt::format("no node of the cluster serves slot {}", slot_of(key))};
  }
  Link& link = node(*owner);
  if (Connection* connection = link.connection(now)) return connection;
  doubt(now);  // its replica may have taken over
  const Failure why = link.failure().value_or(Failure{});
  return Failure{why.kind, fmt::format("{}: {}", link.address().str(), why.text)};
}

Route::Verdict Cluster::judge(std::uint64_t connection, const Reply& error, std::string_view key, TimePoint) {
  Link* const link = link_of(connection);
  const Address asked = link != nullptr ? link->address() : Address{};
  if (const auto redirection = read_redirection(error, asked)) {
    mention(fmt::format("redirected by {} to {}", asked.str(), redirection->to.str()));
    if (error.is_error("ASK")) {
      asking_.emplace(key, redirection->to);
      return Verdict::asking;
    }
    slots_.move(redirection->slot, redirection->to);
    doubted_ = true;  // a slot seldom moves alone
    return Verdict::again;
  }
  // READONLY: a replica now; MOVED: one that read_redirection() could not read.
  if (error.is_error("CLUSTERDOWN") || error.is_error("READONLY") || error.is_error("MOVED")) {
    doubted_ = true;
    return Verdict::later;
  }
  return is_passing(error) ? Verdict::later : Verdict::pass_on;
}

std::set<std::string> Cluster::run_ids() const {
  std::set<std::string> ids;
  for (const auto& [address, link] : nodes_) ids.insert(link->identity().run_id);
  return ids;
}

void Cluster::abandon(std::uint64_t connection, TimePoint now) {
  if (Link* link = link_of(connection)) link->abandon(connection, now);
  doubted_ = true;
}

void Cluster::send_on_abandoned(const std::vector<Call>& calls) {
  for (auto& [address, link] : nodes_) link->send_on_abandoned(calls);
}

Connection* Cluster::find(std::uint64_t connection) {
  Link* const link = link_of(connection);
  return link != nullptr ? link->find(connection) : nullptr;
}

std::string Cluster::server_of(std::uint64_t connection) {
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

/// The map may be wrong. Many calls notice that a node is down: there is one survey at a time.
void Cluster::doubt(TimePoint now) {
  doubted_ = true;
  if (!survey_ && backoff_.due(now)) begin_survey(now);
}

void Cluster::begin_survey(TimePoint now) {
  doubted_ = false;
  backoff_.began(now);
  Survey survey;
  survey.to_ask = target_.addresses;
  std::ranges::reverse(survey.to_ask);  // the last one is next
  for (const auto& [address, link] : nodes_) {
    const bool alive = !link->failure() && link->contacted();
    if (alive) survey.to_ask.push_back(link->address());  // a node that has answered before comes first
  }
  survey_ = std::move(survey);
  ask_next(now);
}

void Cluster::ask_next(TimePoint now) {
  while (!survey_->to_ask.empty()) {
    const Address address = survey_->to_ask.back();
    survey_->to_ask.pop_back();
    std::erase(survey_->to_ask, address);  // it may be in the URL and in the map
    Link& link = node(address);
    Connection* const connection = link.connection(now);
    if (connection == nullptr) {
      const Failure why = link.failure().value_or(Failure{});
      survey_->worst = Failure{why.kind, fmt::format("{}: {}", address.str(), why.text)};
      continue;
    }
    const auto others = static_cast<std::int64_t>(target_.addresses.size());
    survey_->asked = &link;
    survey_->connection = connection->number();
    survey_->in_flight = connection->send(ask_slots());
    survey_->ends = plus(now, std::max(timeouts_.connect / others, kLeastShare));
    return;
  }
  // No node could tell. The old map stays: it may be right, and there is no better one.
  failure_ = survey_->worst.value_or(Failure{Error::unreachable, "no node of the cluster answers"});
  doubted_ = true;
  finish(now);
}

void Cluster::advance(TimePoint now) {
  for (auto& [address, link] : nodes_)
    if (link->take_misplaced()) doubted_ = true;
  if (!survey_) return;
  if (survey_->in_flight->answer) return learn(*survey_->in_flight->answer, now);

  Connection* const connection = survey_->asked->find(survey_->connection);
  const bool silent = now >= survey_->ends;
  if (connection != nullptr && !connection->failure() && !silent) return;
  survey_->in_flight->forgotten = true;  // a slow node may still answer; the answer is ignored
  Link& link = *survey_->asked;
  if (!silent && link.connection(now) != nullptr && link.connection(now)->number() != survey_->connection) {
    survey_->connection = link.connection(now)->number();  // reopened in RESP2, as the server wanted it
    survey_->in_flight = link.connection(now)->send(ask_slots());
    return;
  }
  const Failure why = link.failure().value_or(Failure{Error::unreachable, "no answer"});
  pass({why.kind, fmt::format("{}: {}", link.address().str(), why.text)}, now);
}

void Cluster::learn(const Reply& reply, TimePoint now) {
  const std::string who = survey_->asked->address().str();
  if (reply.is_error()) {
    if (reply.text().find("cluster support disabled") != std::string::npos)
      return pass({Error::config, who + " is no cluster: redis:// instead of redis+cluster://"}, now);
    const Failure why = failure_of(reply);
    return pass({why.kind, fmt::format("{}: {}", who, why.text)}, now);
  }
  // A node may leave its own address empty: then it means the one that we have asked.
  auto map = SlotMap::read(reply, survey_->asked->address());
  if (!map || map->empty())
    return pass({Error::unreachable, who + " does not know who serves which slot"}, now);
  slots_ = *std::move(map);
  failure_.reset();
  finish(now);
  subscribe();     // channels follow their slots
  forget_nodes();  // after subscribe(): a node that we listen to is needed
}

/// Forgets nodes that serve nothing any more, as soon as no call is in flight to them. A wait of days sees
/// many nodes come and go.
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
    old_wakeups_ += link.wakeups();  // the sums must never become smaller
    old_losses_ += link.losses();
    contacted_ = contacted_ || link.contacted();
    return true;
  });
}

/// This node could not tell, so the next one is asked. The reason that helps a person most is kept.
void Cluster::pass(Failure why, TimePoint now) {
  const bool tells_less =
      survey_->worst && survey_->worst->kind != Error::unreachable && why.kind == Error::unreachable;
  if (!tells_less) survey_->worst = std::move(why);
  ask_next(now);
}

void Cluster::finish(TimePoint now) {
  survey_.reset();
  backoff_.ended(now);
}

// --- announcements -------------------------------------------------------------------------------

/// Listens to each channel where it belongs now.
void Cluster::subscribe() {
  for (auto& [channel, listened] : watched_) {
    const Address* owner = slots_.owner(slot_of(channel.str()));
    Link* const right = owner != nullptr ? &node(*owner) : listened;
    if (right == listened) {
      if (right != nullptr) right->watch(channel, true);  // again, if the node has sent it away since
      continue;
    }
    if (listened != nullptr) {
      // Its node has sent the channel away, or another one told: the next call finds the new node by itself.
      mention(fmt::format("redirected by {} to {}", listened->address().str(), right->address().str()));
      listened->unwatch(channel, true);
      listened->unwatch(channel, false);
    }
    right->watch(channel, true);
    right->watch(channel, false);
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
    link->unwatch(channel, true);
    link->unwatch(channel, false);
  }
  watched_.erase(found);
}

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

/// As in Executor: one node that announces is enough.
const std::optional<std::string>& Cluster::subscribe_error() const {
  static const std::optional<std::string> none;
  for (const auto& [channel, link] : watched_)
    if (link == nullptr || !link->subscribe_error()) return none;
  return watched_.empty() ? none : watched_.begin()->second->subscribe_error();
}

// --- the source ----------------------------------------------------------------------------------

TimePoint Cluster::wake_at() const {
  const auto misplaced = [](const auto& node) { return node.second->has_misplaced(); };
  if (std::ranges::any_of(nodes_, misplaced)) return TimePoint::min();
  if (survey_) {
    const Connection* connection = survey_->asked->find(survey_->connection);
    const bool moved = survey_->in_flight->answer || connection == nullptr || connection->failure();
    return moved ? TimePoint::min() : survey_->ends;
  }
  // A call begins a survey by itself. A caller that only listens needs one too.
  return doubted_ && !watched_.empty() ? backoff_.next() : kNever;
}

void Cluster::ready(short, TimePoint now) {
  advance(now);
  if (doubted_ && !watched_.empty()) doubt(now);
}

}  // namespace rlock
