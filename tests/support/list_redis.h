#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "redis/quorum.h"
#include "redis/redis.h"
#include "support/ticking_loop.h"

namespace rlock::test {

/// A Redis that answers from a list, without a socket. Each call takes the next answer, and is logged under
/// its script's name (or its first word). When the list is empty, it is silent. Its clock is a TickingLoop.
class ListRedis final : public Redis {
 public:
  using Answer = std::vector<std::optional<Reply>>;  ///< one per node; empty: the node does not answer

  explicit ListRedis(std::size_t nodes = 1) : nodes_(nodes) {}

  /// Each adds one answer behind the others in the list, for one run() or post().
  void answers(Reply reply) { list_.push_back(Answer(nodes_, std::move(reply))); }
  void answers(Answer answer) { list_.push_back(std::move(answer)); }
  void is_silent() { list_.push_back(Answer(nodes_, std::nullopt)); }

  std::vector<std::string> log;                ///< the calls
  std::vector<std::vector<bool>> asked;        ///< the nodes of each call: Delivery::only_nodes
  std::vector<Delivery> deliveries;            ///< the delivery of each call
  std::vector<std::string> sent_on_abandoned;  ///< the calls that were sent on abandoned connections
  std::vector<std::string> watched;            ///< channels; with "-" in front, unwatched
  int attempts = 1;                            ///< how often each call is sent
  bool persistent = true;
  bool replies_take = false;  ///< replies to post() arrive in the next turn of the loop, after `latency`
  Milliseconds latency{0};
  bool silence_lasts = false;  ///< run() waits until its deadline for a missing answer
  std::uint64_t messages = 0;  ///< number of messages without text
  std::vector<Message> said;   ///< messages with a text
  std::optional<std::string> why_not_subscribed;
  std::uint64_t lost = 0;        ///< lost connections
  std::optional<Failure> twice;  ///< two nodes are one server
  bool given_away = false;
  int detached = 0;  ///< number of detached requests

  TickingLoop& loop() const override { return loop_; }
  std::size_t nodes() const override { return nodes_; }
  std::size_t quorum() const override { return majority_of(nodes_); }
  std::string str(std::size_t node) const override { return "node " + std::to_string(node + 1); }
  bool keeps_trying() const override { return persistent; }
  std::optional<Failure> trouble() const override { return std::nullopt; }
  std::uint64_t losses() const override { return lost; }
  std::optional<Failure> same_server_twice() const override { return twice; }
  void give_away() override { given_away = true; }

  Request post(const Call& call, const Delivery& delivery, TimePoint) override {
    const CallNumber request = reply_to(call, delivery);
    if (replies_take) {
      wire_.under_way[request] = votes_.at(request);
      wire_.arrives = plus(loop_.now(), latency);
      for (Vote& vote : votes_.at(request)) vote.result = {};
    }
    return {*this, request};
  }
  /// The number of requests that were not dropped yet.
  std::size_t open() const { return votes_.size(); }
  Votes run(const Call& call, const Delivery& delivery, const Patience& patience,
            const EnoughFrom&) override {
    const CallNumber request = reply_to(call, delivery);
    Votes votes = votes_.at(request);
    drop(request);
    while (silence_lasts && !votes.front().reply() && !patience.ended(loop_.now()))
      loop_.turn(patience.until);
    return votes;
  }
  bool has_followers_in_flight() const override { return false; }
  void send_on_abandoned(const std::vector<Call>& calls) override {
    for (const Call& call : calls) sent_on_abandoned.push_back(name(call));
  }
  void watch(const Channel& channel) override { watched.push_back(channel.str()), ++messages; }
  void unwatch(const Channel& channel) override { watched.push_back("-" + channel.str()); }
  std::uint64_t wakeups() const override { return messages; }
  std::optional<std::string> subscribe_error() const override { return why_not_subscribed; }

 private:
  std::vector<Message> take_messages() override {
    const std::string channel = watched.empty() || watched.back().starts_with('-') ? "" : watched.back();
    std::vector<Message> all(messages - std::exchange(taken_, messages),
                             Message{Channel{channel}, std::nullopt});
    for (Message& message : said) all.push_back(std::move(message));
    said.clear();
    return all;
  }
  const Votes& votes(CallNumber request) const override { return votes_.at(request); }
  bool settled(CallNumber request) const override { return votes(request).front().settled(); }
  void drop(CallNumber request) override { votes_.erase(request); }
  void detach(CallNumber request) override { drop(request), ++detached; }

  /// The replies that are on their way.
  struct Wire final : Source {
    explicit Wire(std::map<CallNumber, Votes>& arrived) : votes(arrived) {}
    int fd() const override { return -1; }
    TimePoint wake_at() const override { return under_way.empty() ? kNever : arrives; }
    void ready(short, TimePoint) override {
      for (auto& [request, reply] : std::exchange(under_way, {}))
        if (votes.contains(request)) votes[request] = std::move(reply);
    }
    std::map<CallNumber, Votes>& votes;
    std::map<CallNumber, Votes> under_way{};
    TimePoint arrives = kNever;
  };

  CallNumber reply_to(const Call& call, const Delivery& delivery) {
    std::vector<bool> whom = delivery.only_nodes;
    if (whom.empty()) whom.resize(nodes_, true);
    const bool anybody = std::ranges::find(whom, true) != whom.end();
    if (anybody) log.push_back(name(call)), asked.push_back(whom), deliveries.push_back(delivery);
    Votes votes(nodes_);
    Answer answer(nodes_, std::nullopt);
    if (anybody && !list_.empty()) {
      answer = std::move(list_.front());
      list_.pop_front();
    }
    for (std::size_t node = 0; node < nodes_; ++node) {
      votes[node].asked = loop_.now();
      votes[node].connection = ConnectionNumber{node + 1};
      votes[node].attempts = whom[node] ? attempts : 0;
      if (whom[node] && answer[node]) votes[node].result = *answer[node];
      if (!votes[node].reply()) votes[node].result = Failure{Error::unreachable, "no answer"};
    }
    votes_[++last_] = std::move(votes);
    return last_;
  }

  static std::string name(const Call& call) {
    return call.script != nullptr ? std::string{call.script->name} : call.args.front();
  }

  mutable TickingLoop loop_;
  const std::size_t nodes_;
  std::deque<Answer> list_;
  std::map<CallNumber, Votes> votes_;
  Wire wire_{votes_};
  Membership membership_{loop_, wire_};
  CallNumber last_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace rlock::test
