#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/connection/backoff.h"
#include "redis/connection/link.h"
#include "redis/connection_number.h"
#include "redis/route/route.h"
#include "redis/route/slot_search.h"
#include "redis/route/slots.h"

namespace rlock {

/// The nodes of a Cluster, each with its own link. A call goes to the node that serves its key's slot. The nodes are
/// asked for their slots one after the other: at the start, and when a redirection or a failure suggests a change.
///
/// It subscribes to a channel on the node of the channel's slot, by both SUBSCRIBE and SSUBSCRIBE. The first
/// does not get the messages of SPUBLISH, and the second does not get those of PUBLISH.
class Cluster final : public Route {
 public:
  Cluster(Loop& loop, const Target& target, const Timeouts& timeouts);

  Choice connection_for(std::string_view key, TimePoint now) override;
  bool connecting() const override { return search_.going_on() && (slots_.empty() || awaited_); }
  TimePoint next_attempt() const override { return backoff_.next(); }
  Verdict judge(ConnectionNumber connection, const Reply& error, std::string_view key,
                TimePoint now) override;
  std::set<std::string> run_ids() const override;
  void abandon(ConnectionNumber connection, TimePoint now) override;
  void send_on_abandoned(const std::vector<Call>& calls) override;
  Connection* find(ConnectionNumber connection) override;
  bool contacted() const override;
  std::string server_of(ConnectionNumber connection) override;
  std::uint64_t losses() const override;
  void watch(const Channel& channel) override;
  void unwatch(const Channel& channel) override;
  std::uint64_t wakeups() const override;
  std::vector<Message> take_messages() override;
  const std::optional<std::string>& subscribe_error() const override;
  std::string str() const override { return target_.str(); }

  TimePoint wake_at() const override;
  void ready(short events, TimePoint now) override;

 private:
  Link& node(const Address& address);
  Link& any_node(const Address& first);
  Link* link_of(ConnectionNumber connection);
  void mark_stale(TimePoint now);
  void search_if_due(TimePoint now);
  void begin_search(TimePoint now);
  void advance(TimePoint now);
  void take_result(TimePoint now);
  void learn(SlotMap&& map);
  void subscribe();
  void note_move(std::uint16_t slot, const Address* to);
  void forget_nodes();

  Loop& loop_;
  const Target target_;
  const std::shared_ptr<const TlsContext> tls_;
  const Timeouts timeouts_;
  SlotMap slots_;
  std::map<std::pair<std::string, std::uint16_t>, std::unique_ptr<Link>> nodes_;
  std::uint64_t old_wakeups_ = 0;  ///< sum over forgotten nodes
  std::uint64_t old_losses_ = 0;   ///< sum over forgotten nodes, and the number of slots that moved
  bool contacted_ = false;         ///< a forgotten node had sent a reply
  SlotSearch search_;
  bool awaited_ = false;  ///< a call waits for the search
  Backoff backoff_;
  bool stale_ = true;                                      ///< the slots must be asked for again
  std::optional<std::pair<std::string, Address>> asking_;  ///< the next call with this key goes there, once
  /// The node on which we subscribed; null: none yet.
  std::map<Channel, Link*> watched_;
  Membership membership_{loop_, *this};
};

}  // namespace rlock
