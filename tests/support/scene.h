#pragma once

#include <doctest/doctest.h>

#include <string>

#include "support/direct.h"
#include "support/redis_server.h"
#include "sync/calls/lockable.h"

namespace rlock::test {

inline bool is_held(const AcquireAnswer& attempt) { return std::holds_alternative<Held>(attempt); }
inline bool is_busy(const AcquireAnswer& attempt) { return std::holds_alternative<Busy>(attempt); }
inline bool is_refused(const AcquireAnswer& attempt) { return std::holds_alternative<Refused>(attempt); }

inline const Busy& busy(const AcquireAnswer& attempt) {
  REQUIRE(is_busy(attempt));
  return std::get<Busy>(attempt);
}

/// The result of a release. Throws Error if it failed.
inline Released released(ReleaseAnswer answer) {
  if (const auto* failure = std::get_if<Failure>(&answer)) failure->throw_error();
  return std::get<Released>(std::move(answer));
}

/// For the lock "deploy".
inline Claim claim(const std::string& owner, Milliseconds lease = Milliseconds{30000}) {
  return {.name = LockName{"deploy"}, .owner = Owner{owner}, .lease = lease};
}

/// A server, and calls of locks with their answers.
struct Scene {
  RedisServer server{};
  Direct redis{server};

  AcquireAnswer ask(const Waitable& lock) { return lock.read(redis.run(lock.ask())); }

  /// Releases, with the second call if one is needed.
  Released release(const Lockable& lock, const ReleaseOptions& options = {}) {
    Released last = released(lock.read_release(redis.run(lock.release(options))));
    while (last.then) last = released(lock.read_release(redis.run(*last.then)));
    return last;
  }

  bool renew(const Lockable& lock) {
    return std::holds_alternative<Renewed>(lock.read_renewal(redis.run(lock.renew())));
  }

  void undo(const Waitable& lock) {
    if (const auto call = lock.undo(Wake::waiters)) redis.run(*call);
  }

  /// Gives these rights to `user`, and logs `redis` in as that user. For example, the rights
  /// {"~*", "+@all", "resetchannels"} do not let it publish.
  void become(const std::string& user, const std::vector<std::string>& rights) {
    std::vector<std::string> words{"ACL", "SETUSER", user, "on", "nopass"};
    words.insert(words.end(), rights.begin(), rights.end());
    redis.run(command(words));
    redis.run(command({"AUTH", user, "x"}));
  }

  std::string all() { return contents(redis); }
  std::string lock() { return contents(redis, "deploy"); }  ///< without the keys for requests
};

/// A listener on a channel.
class Listener {
 public:
  Listener(const RedisServer& server, const Channel& channel, bool sharded = false)
      : client_(server.where()) {
    client_.ask({sharded ? "SSUBSCRIBE" : "SUBSCRIBE", channel.str()});
  }

  /// The payload of the next message.
  std::string heard() {
    const std::string message = client_.receive();
    return message.substr(message.rfind('\n') + 1);
  }

  /// True: no message comes within 50 ms.
  bool silence() { return !client_.receive_within(std::chrono::milliseconds{50}); }

 private:
  RespClient client_;
};

}  // namespace rlock::test
