#pragma once

#include <array>
#include <memory>
#include <string>

#include "redis/route/slots.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/redis_server.h"

namespace rlock::test {

/// A Cluster of three primaries; each has a third of the slots. It needs Redis 7: older servers have no
/// `cluster-port`.
class ClusterServers {
 public:
  ClusterServers() {
    for (auto& node : nodes_) {
      const RedisServer::Options options{
          .tcp = true,
          .config = {"cluster-enabled yes", "cluster-port " + std::to_string(free_port()),
                     "cluster-node-timeout 2000"}};
      node = std::make_unique<RedisServer>(options);
    }
    const std::array<Words, 3> thirds{Words{"0", "5460"}, Words{"5461", "10922"}, Words{"10923", "16383"}};
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i]->cli({"CLUSTER", "ADDSLOTSRANGE", thirds[i][0], thirds[i][1]});
      nodes_[i]->cli({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
    }
    for (std::size_t i = 1; i < nodes_.size(); ++i)
      nodes_[0]->cli(
          {"CLUSTER", "MEET", "127.0.0.1", std::to_string(nodes_[i]->port()), bus_port(*nodes_[i])});
    const auto whole = [&] {
      for (auto& node : nodes_)
        if (!contains(node->cli({"CLUSTER", "INFO"}), "cluster_state:ok")) return false;
      return true;
    };
    if (!eventually(whole, 20s)) throw std::runtime_error{"the cluster of the test does not come up"};
  }

  RedisServer& node(std::size_t number) { return *nodes_[number]; }
  RedisServer& owner_of(const std::string& key) { return *nodes_[third_of(key)]; }
  static std::size_t third_of(const std::string& key) {
    const auto slot = slot_of(key);
    return slot <= 5460 ? 0 : slot <= 10922 ? 1 : 2;
  }
  std::string id(std::size_t number) { return nodes_[number]->cli({"CLUSTER", "MYID"}); }

  /// Moves an empty slot. The new owner must be importing it; otherwise gossip of the old owner takes it
  /// back.
  void move(std::uint16_t slot, std::size_t from, std::size_t to) {
    const std::string number = std::to_string(slot);
    nodes_[to]->cli({"CLUSTER", "SETSLOT", number, "IMPORTING", id(from)});
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      nodes_[(to + i) % nodes_.size()]->cli({"CLUSTER", "SETSLOT", number, "NODE", id(to)});
  }

  /// A redis+cluster:// URL that names only this node.
  std::string url(std::size_t number = 0) const {
    return "redis+cluster://127.0.0.1:" + std::to_string(nodes_[number]->port());
  }

 private:
  static std::string bus_port(RedisServer& node) {
    const std::string answer = node.cli({"CONFIG", "GET", "cluster-port"});
    return answer.substr(answer.find('\n') + 1);
  }

  std::array<std::unique_ptr<RedisServer>, 3> nodes_;
};

}  // namespace rlock::test
