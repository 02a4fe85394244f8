// Finds the map of the slots. begin() asks the last node of to_ask_; advance() takes its answer, or asks the next one.
// The search ends with found_, or with failure_ if no node is left.
//
// A failover takes some seconds, and any node may be the dead one. So each node has only a share of the time.

#include "redis/route/slot_search.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "redis/connection/server_identity.h"

namespace rlock {

void SlotSearch::begin(std::vector<Link*> to_ask, TimePoint now) {
  to_ask_ = std::move(to_ask);
  best_reason_.reset();
  found_.reset();
  failure_.reset();
  ask_next(now);
}

/// Asks the next node of the list. One to which there can be no connection now is left out.
void SlotSearch::ask_next(TimePoint now) {
  while (!to_ask_.empty()) {
    asked_ = to_ask_.back();
    std::erase(to_ask_, asked_);  // a node may be in the list twice
    if (Connection* connection = asked_->connection(now)) {
      deadline_ = plus(now, share_);
      return ask(*connection);
    }
    remember(of_server(asked_->address().str(), asked_->failure().value_or(no_answer())));
  }
  asked_ = nullptr;
  failure_ = best_reason_.value_or(no_answer());
}

void SlotSearch::ask(Connection& connection) {
  connection_ = connection.number();
  in_flight_ = connection.send(ask_slots());
}

/// Takes the answer. If there will be none (the connection broke, or the share of the time is over), asks the next
/// node.
void SlotSearch::advance(TimePoint now) {
  if (!going_on()) return;
  if (in_flight_->reply) return accept(*in_flight_->reply, now);

  const Connection* const connection = asked_->find(connection_);
  const bool silent = now >= deadline_;
  if (connection != nullptr && !connection->failure() && !silent) return;
  in_flight_->forgotten = true;  // a slow node may still answer; the answer is ignored
  Connection* const newer = silent ? nullptr : asked_->connection(now);
  // The link has opened another connection at once, for example in RESP2. Asks on that one.
  if (newer != nullptr && newer->number() != connection_) return ask(*newer);
  std::optional<Failure> why = asked_->failure();
  if (connection != nullptr && !why) why = connection->failure();
  if (connection != nullptr && !why && !connection->open()) why = {Error::unreachable, connection->silence()};
  pass(of_server(asked_->address().str(), why.value_or(no_answer())), now);
}

/// A node that knows no map is passed over.
void SlotSearch::accept(const Reply& reply, TimePoint now) {
  const std::string who = asked_->address().str();
  if (reply.is_error()) {
    if (reply.text().find("cluster support disabled") != std::string::npos)
      return pass(
          {Error::config, fmt::format("{} is no cluster; use --url {}", who,
                                      suggested_url(Target::Topology::single, asked_->address(), tls_))},
          now);
    return pass(of_server(who, failure_of(reply)), now);
  }
  // A node may leave its own address empty: then the address that we asked counts.
  found_ = SlotMap::read(reply, asked_->address());
  if (found_ && !found_->empty()) {
    asked_ = nullptr;
    return;
  }
  found_.reset();
  pass(knows_no_slots(who), now);
}

/// This node gave no usable answer, so the next one is asked.
void SlotSearch::pass(Failure why, TimePoint now) {
  remember(std::move(why));
  ask_next(now);
}

/// Of all reasons, the most helpful one is kept.
void SlotSearch::remember(Failure why) {
  const bool says_less = best_reason_ && best_reason_->needs_a_person() && !why.needs_a_person();
  if (!says_less) best_reason_ = std::move(why);
}

TimePoint SlotSearch::wake_at() const {
  if (!going_on()) return kNever;
  const Connection* const connection = asked_->find(connection_);
  const bool moved = in_flight_->reply || connection == nullptr || connection->failure();
  return moved ? TimePoint::min() : deadline_;
}

}  // namespace rlock
