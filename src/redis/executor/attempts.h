#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "redis/connection_number.h"
#include "redis/delivery.h"
#include "redis/executor/node.h"
#include "redis/executor/retry_plan.h"
#include "redis/vote.h"

namespace rlock {

/// A call that was given to the Executor, and the limits of each attempt to deliver it.
struct PostedCall {
  Call call;
  Delivery delivery;
  TimePoint deadline;        ///< by then the vote is settled
  Milliseconds timeout;      ///< an attempt that takes longer has failed
  bool retry_first_contact;  ///< retry before the node has ever answered, too
  bool to_several;           ///< there are several nodes

  std::string_view key() const { return call.keys.empty() ? std::string_view{} : call.keys.front(); }
  bool with_source() const {
    return delivery.source == Delivery::Source::always ||
           (delivery.source == Delivery::Source::to_several && to_several);
  }
};

/// The attempts to deliver a call to one node: one after the other, until they settle the vote. This class decides
/// what an attempt needs before it may begin, when it counts as failed, and whether another one follows (RetryPlan
/// says when). It also counts how often a server may have carried out the call (Vote::attempts).
class Attempts {
 public:
  /// REQUIRES: posted, node and vote outlive it.
  Attempts(const PostedCall& posted, Node& node, Vote& vote) : posted_(posted), node_(node), vote_(vote) {}

  /// Goes as far as it can without waiting. Call it after each event.
  void progress(TimePoint now);
  TimePoint wake_at() const;  ///< when to call progress() if nothing happens before

  /// Ends the attempt. A late reply to this copy of the call is ignored.
  void finish();

  /// The caller wants no vote any more.
  void drop(TimePoint now);

 private:
  void begin(TimePoint now);
  void advance(TimePoint now);
  void accept(TimePoint now);
  void refused(Reply error, const std::string& server, TimePoint now);
  void failed(Failure why, TimePoint now);
  void settle(Failure why) { vote_.result = std::move(why); }
  bool may_not_follow(const Connection& connection) const;
  bool may_retry() const;
  TimePoint ends(const Connection& connection) const;

  const PostedCall& posted_;
  Node& node_;
  Vote& vote_;
  RetryPlan plan_;
  ConnectionNumber connection_ = ConnectionNumber::none;  ///< of the current attempt, if there is one
  std::shared_ptr<InFlightCall> in_flight_;
  TimePoint sent_at_{};
  bool with_asking_ = false;  ///< the next attempt writes ASKING before the call
  bool slot_moves_ = false;   ///< a slot is moving: Call::while_slot_moves is sent instead of the call
};

}  // namespace rlock
