#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "redis/backoff.h"
#include "redis/link.h"
#include "redis/route.h"
#include "redis/slots.h"

namespace rlock {

/// The nodes of a cluster, each with a link of its own: a call goes where its key's
/// slot is served. The nodes are asked for their slots one after the other, at the
/// beginning and whenever a redirection or a failure says that they may have changed.
///
/// It subscribes to a channel on the node of the channel's slot, in both ways at once: a message of
/// SPUBLISH does not reach SUBSCRIBE, nor the other way round.
class Cluster final : public Route {
 public:
  Cluster(Loop& loop, const Target& target, const Timeouts& timeouts);
  ~Cluster() override;

  Choice connection_for(std::string_view key, TimePoint now) override;
  bool connecting() const override { return slots_.empty() && survey_; }
  TimePoint next_attempt() const override { return backoff_.next(); }
  Verdict judge(std::uint64_t connection, const Reply& error, std::string_view key, TimePoint now) override;
  std::set<std::string> run_ids() const override;
  void abandon(std::uint64_t connection, TimePoint now) override;
  void send_on_abandoned(const std::vector<Call>& calls) override;
  Connection* find(std::uint64_t connection) override;
  bool contacted() const override;
  std::string server_of(std::uint64_t connection) override;
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
  /// A round of asking which node serves which slots.
  struct Survey {
    std::vector<Address> to_ask;  ///< the last one is next
    Link* asked = nullptr;
    std::uint64_t connection = 0;
    std::shared_ptr<InFlightCall> in_flight;
    TimePoint ends = kNever;
    std::optional<Failure> worst;
  };

  Link& node(const Address& address);
  Link* link_of(std::uint64_t connection);
  void begin_survey(TimePoint now);
  void ask_next(TimePoint now);
  void advance(TimePoint now);
  void learn(const Reply& reply, TimePoint now);
  void pass(Failure why, TimePoint now);
  void finish(TimePoint now);
  void doubt(TimePoint now);
  void subscribe();
  void forget_nodes();

  Loop& loop_;
  const Target target_;
  const std::shared_ptr<const TlsContext> tls_;
  const Timeouts timeouts_;
  SlotMap slots_;
  std::map<std::pair<std::string, std::uint16_t>, std::unique_ptr<Link>> nodes_;
  std::uint64_t old_wakeups_ = 0;  ///< of nodes that have been forgotten
  std::uint64_t old_losses_ = 0;   ///< the same
  bool contacted_ = false;         ///< one of those
  std::optional<Survey> survey_;
  Backoff backoff_;
  bool doubted_ = true;  ///< the slots have to be asked for again
  std::optional<Failure> failure_;
  std::optional<std::pair<std::string, Address>> asking_;  ///< the next call with this key goes there, once
  std::map<Channel, Link*> watched_;                       ///< and the node it is subscribed to on, or null
};

}  // namespace rlock
