#pragma once

#include <sys/socket.h>
#include <cstddef>
#include <utility>

#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/time.h"
#include "process/lookup.h"
#include "redis/connection/target.h"

namespace rlock {

/// Connects a socket within a time limit. A host name is looked up for every attempt, because its address may
/// change. If it has several addresses, each is tried for its share of the remaining time. `localhost` is
/// always this machine, whatever a name server says.
///
/// It is passive: its owner calls ready(), then asks connected() and failure().
class Dial {
 public:
  /// Starts. When this returns, a Unix socket is connected or has failed.
  Dial(const Address& address, TimePoint now, TimePoint until,
       const Lookup::Resolver& resolve = Lookup::system_resolver);

  bool connected() const noexcept { return connected_; }
  const std::optional<std::string>& failure() const noexcept { return failure_; }

  /// The step that it waits for, as the text of a failure.
  std::string silence() const;

  /// The socket: non-blocking, closed on exec. Before connected(), the caller may only close it.
  [[nodiscard]] Descriptor take() { return std::move(socket_); }

  int fd() const noexcept { return lookup_ ? lookup_->fd() : socket_.number(); }
  short interest() const noexcept;
  TimePoint wake_at() const noexcept { return connected_ || failure_ ? kNever : share_ends_; }
  void ready(short events, TimePoint now);

 private:
  struct Endpoint {
    sockaddr_storage address{};
    socklen_t size = 0;
  };

  bool add(const std::string& numeric);
  void add_unix(const std::string& path);
  void connect_next(TimePoint now);
  bool connect(const Endpoint& endpoint);
  void note(const std::string& failure);
  std::optional<int> outcome() const;

  void drain_lookup(TimePoint now);

  const Address address_;
  const TimePoint until_;
  std::optional<Lookup> lookup_;
  std::vector<Endpoint> endpoints_;
  std::size_t next_ = 0;
  TimePoint share_ends_;
  Descriptor socket_;
  bool connected_ = false;
  std::string first_failure_;
  std::optional<std::string> failure_;
};

}  // namespace rlock
