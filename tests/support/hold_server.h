#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/hold/request/lock_types.h"
#include "support/redis_server.h"
#include "support/scene.h"
#include "support/usual_names.h"

namespace rlock::test {

inline const Owner kOther{"other:1"};
inline constexpr Milliseconds kOuterLease{9000};
inline constexpr Milliseconds kInnerLease{3'600'000};
/// The largest part of a lease that may pass between two looks.
inline constexpr Milliseconds kMeanwhile{1000};
/// All types of locks.
inline const std::vector<std::string> kAll{"lock", "fair",  "fenced", "spin",
                                           "read", "write", "plain",  "permit"};

inline std::unique_ptr<Lockable> make_hold(std::string_view type, Hold hold, const Owner& owner,
                                           Milliseconds lease, bool owner_returns) {
  return find_lock_type(type)->make(
      {.claim = {.name = kKey, .owner = owner, .lease = lease, .owner_returns = owner_returns},
       .hold = hold,
       .options = {.permits = type == "permit" ? std::optional<std::int64_t>{1} : std::nullopt}});
}

inline std::unique_ptr<Lockable> make(std::string_view type, const Owner& owner, Milliseconds lease,
                                      bool again = false, bool owner_returns = false) {
  return make_hold(type, again ? Hold::inner : Hold::first, owner, lease, owner_returns);
}

/// An acquire of an owner that the user named.
inline std::unique_ptr<Lockable> named(std::string_view type, Milliseconds lease) {
  return make(type, kMe, lease, false, /*owner_returns=*/true);
}

/// The number of holds of an owner, and the time that is left of them.
struct Has {
  std::int64_t holds = 0;
  Milliseconds rest{0};
};

/// A server that executes calls, and the state of a hold of kKey on it.
struct HoldServer : Scene {
  std::string run(const Call& call) { return written(redis.run(call)); }
  Released::How release(const Lockable& lock) { return Scene::release(lock).how; }
  bool renews(const Lockable& lock) { return renew(lock); }
  /// The reply as text. Throws Error if it is nil or a list.
  std::string cli(const Words& words) { return redis.run(command(words)).text(); }
  Milliseconds pttl(const std::string& key) { return Milliseconds{server.pttl(key)}; }

  /// Somebody removes the hold of kKey, which is the only one.
  void remove_hold(std::string_view type) {
    cli({"DEL", type == "permit" ? "{k}:timeout" : "k"});
    if (type == "permit") cli({"INCR", "k"});
  }

  ServerTime time() {
    const Reply time = redis.run(command({"TIME"}));
    return ServerTime{
        Milliseconds{std::stoll(time.at(0).text()) * 1000 + std::stoll(time.at(1).text()) / 1000}};
  }

  /// The state of `lock` according to its entry.
  Has has(const Lockable& lock) {
    const HoldEntry entry = lock.hold_entry();
    const std::string& key = entry.key;
    const std::string& member = entry.member;
    const std::string type = cli({"TYPE", key});
    if (type == "hash") {
      const Reply holds = redis.run(command({"HGET", key, member}));
      if (holds.is_nil()) return {};
      const std::string timeout = "{k}:" + member + ":rwlock_timeout:1";
      const bool reads = cli({"EXISTS", timeout}) == "1";
      return {std::stoll(holds.text()), reads ? std::min(pttl(key), pttl(timeout)) : pttl(key)};
    }
    if (type == "string") return cli({"GET", key}) == member ? Has{1, pttl(key)} : Has{};
    if (type != "zset") return {};
    const Reply permits = redis.run(command({"ZRANGE", "{k}:timeout", "0", "-1", "WITHSCORES"}));
    if (permits.items().empty()) return {};
    return {1, ServerTime{Milliseconds{std::stoll(permits.at(1).text())}} - time()};
  }
};

}  // namespace rlock::test
