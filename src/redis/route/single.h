#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "redis/connection/link.h"
#include "redis/connection_number.h"
#include "redis/route/route.h"

namespace rlock {

/// One server, which gets all calls.
class Single final : public Route {
 public:
  Single(Loop& loop, const Target& target, const Timeouts& timeouts);

  Choice connection_for(std::string_view key, TimePoint now) override;
  bool connecting() const override { return false; }  // calls wait in its connection
  TimePoint next_attempt() const override { return link_.next_attempt(); }
  Verdict judge(ConnectionNumber connection, const Reply& error, std::string_view key,
                TimePoint now) override;
  std::optional<Failure> wrong_url(const Reply& error) const override;
  std::set<std::string> run_ids() const override { return {link_.run_id()}; }
  void abandon(ConnectionNumber connection, TimePoint now) override { link_.abandon(connection, now); }
  void send_on_abandoned(const std::vector<Call>& calls) override { link_.send_on_abandoned(calls); }
  Connection* find(ConnectionNumber connection) override { return link_.find(connection); }
  bool contacted() const override { return link_.contacted(); }
  std::uint64_t losses() const override { return link_.losses(); }
  void watch(const Channel& channel) override { link_.watch({.channel = channel}); }
  void unwatch(const Channel& channel) override { link_.unwatch({.channel = channel}); }
  std::uint64_t wakeups() const override { return link_.wakeups(); }
  std::vector<Message> take_messages() override { return link_.take_messages(); }
  const std::optional<std::string>& subscribe_error() const override { return link_.subscribe_error(); }
  std::string str() const override { return target_.str(); }

  void ready(short, TimePoint) override {}  // the link is the source

 private:
  const Target target_;
  Link link_;
  bool warned_ = false;
};

}  // namespace rlock
