#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "redis/connection/password.h"

namespace rlock {

/// The address of a server: host and port, or the path of a Unix socket.
struct Address {
  std::string host;  ///< a name or a numeric address, IPv6 without brackets; empty for a Unix socket
  std::uint16_t port = 0;
  std::string path;  ///< path of a Unix socket
  bool own = false;  ///< the private server, which must run as our user

  bool is_unix() const noexcept { return !path.empty(); }
  std::string str() const;     ///< "host:port", "[::1]:6379", "/run/redis.sock"
  std::string in_url() const;  ///< host and port for a URL: the zone of an IPv6 address is encoded
  friend bool operator==(const Address&, const Address&) = default;
};

/// The address that a server announces for itself or another one; its host may be empty. Empty: it cannot be an address.
/// The text of a hostile server must not reach a terminal, nor be taken for a path.
std::optional<Address> announced_address(std::string_view host, std::optional<std::int64_t> port);

/// TLS settings: on or off, the trusted certificates, our own certificate. If they are empty, the system's
/// trust store applies, and we send no certificate.
struct Tls {
  bool on = false;
  std::string cacert, cacertdir, cert, key, sni;
  bool insecure = false;
};

/// One node: a server, the servers behind Sentinels, a Cluster, or the private server of `local:`.
struct Target {
  enum class Topology { single, sentinel, cluster, local };

  Topology topology = Topology::single;
  std::string scheme = "redis";
  std::vector<Address> addresses;  ///< at least one, except for local:
  std::string master;              ///< Sentinel's name for the primary
  std::string user;                ///< ACL user; empty: the default user
  PasswordSource password;
  int db = 0;
  bool db_named = false;  ///< the user named a database, perhaps 0
  Tls tls;

  // Set by the code that connects to it.
  bool to_primary = false;  ///< for a single server: refuse a replica
  bool ask_run_id = false;  ///< several servers make a quorum, so no two of them may be the same

  /// The URL without secrets, for messages: "redis://***@host:6379/2".
  std::string str() const;

  /// The URL for a nested rlock (RLOCK_URL): with the user, without the password.
  std::string url() const;
};

/// Parses a URL with one of the schemes redis, rediss, valkey, valkeys, unix, redis+unix, redis+sentinel,
/// rediss+sentinel, redis+cluster, rediss+cluster and local. Decodes %-escapes in user, password and path
/// once. Throws Error{usage}. Its text repeats nothing of the URL except a known scheme, because a password
/// may be anywhere.
Target parse_target(std::string_view url);

/// Time limits.
struct Timeouts {
  Milliseconds connect{2000};  ///< name look-up, TCP, TLS and greeting together, per attempt
  Milliseconds command{2000};  ///< one command, from the write to the reply

  /// How long one of so many servers may take to answer, so that a round through all of them takes no longer than
  /// `connect`. The least is enough for a slow name look-up and a round trip.
  Milliseconds share_of_one(std::size_t servers) const {
    constexpr Milliseconds kLeast{250};
    return std::max(connect / static_cast<std::int64_t>(servers), kLeast);
  }
};

}  // namespace rlock
