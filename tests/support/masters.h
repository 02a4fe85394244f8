#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "support/redis_server.h"
#include "support/tcp_proxy.h"

namespace rlock::test {

/// Several independent servers, each behind a proxy that can make faults.
class Masters {
 public:
  explicit Masters(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      servers_.push_back(std::make_unique<RedisServer>());
      proxies_.push_back(std::make_unique<TcpProxy>(servers_.back()->where()));
    }
  }

  std::size_t size() const noexcept { return servers_.size(); }
  RedisServer& operator[](std::size_t i) { return *servers_[i]; }
  TcpProxy& proxy(std::size_t i) { return *proxies_[i]; }

  /// Kills a server; nothing listens at its address any more.
  void kill(std::size_t i) {
    servers_[i]->kill();
    proxies_[i]->refuse();
    proxies_[i]->hang_up();
    dead_.push_back(i);
  }

  void delay(std::chrono::milliseconds each_answer) {
    for (auto& proxy : proxies_) proxy->delay(TcpProxy::Way::to_client, each_answer);
  }

  /// The addresses in the form of RLOCK_URL.
  std::string urls() const {
    std::string all;
    for (const auto& proxy : proxies_) all += proxy->url() + " ";
    return all;
  }

  Process::Options environment() const {
    auto options = Rlock::clean_environment();
    options.env["RLOCK_URL"] = urls();
    return options;
  }

  template <class... Arguments>
  Rlock rlock(Arguments&&... arguments) const {
    return Rlock{Words{std::string{std::forward<Arguments>(arguments)}...}, environment()};
  }

  /// The number of living servers that have the key.
  std::size_t holding(const std::string& key) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size(); ++i)
      if (lives(i) && servers_[i]->has(key)) ++count;
    return count;
  }

  /// All keys of the living servers, each with the number of its server.
  std::string keys() {
    std::string all;
    for (std::size_t i = 0; i < size(); ++i)
      if (lives(i))
        for (const auto& key : keys_of(i)) all += std::to_string(i) + ": " + key + "\n";
    return all;
  }

  /// No key is left on any living server.
  bool clean() { return keys().empty(); }

 private:
  std::vector<std::string> keys_of(std::size_t i) {
    const std::string lines = servers_[i]->keys();
    return lines.empty() ? std::vector<std::string>{} : split(lines, '\n');
  }
  bool lives(std::size_t i) const { return std::find(dead_.begin(), dead_.end(), i) == dead_.end(); }

  std::vector<std::unique_ptr<RedisServer>> servers_;
  std::vector<std::unique_ptr<TcpProxy>> proxies_;
  std::vector<std::size_t> dead_;
};

}  // namespace rlock::test
