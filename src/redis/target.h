#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace rlock {

/// Where a server listens: a host and a port, or the path of a Unix socket.
struct Address {
  std::string host;  ///< a name or a numeric address, IPv6 without brackets; empty for a Unix socket
  std::uint16_t port = 0;
  std::string path;  ///< of a Unix socket
  bool own = false;  ///< only a server that our user runs is meant: the private one

  bool is_unix() const noexcept { return !path.empty(); }
  std::string str() const;  ///< "host:port", "[::1]:6379", "/run/redis.sock"
  friend bool operator==(const Address&, const Address&) = default;
};

/// How TLS is spoken: on or off, whom to trust, who we are.
/// Empty: the system's trust store, no certificate of ours.
struct Tls {
  bool on = false;
  std::string cacert, cacertdir, cert, key, sni;
  bool insecure = false;
};

/// A password, or where to read it at each connection, because passwords rotate. Prints nowhere, and is
/// kept out of every text (see base/redaction.h).
class PasswordSource {
 public:
  PasswordSource() = default;
  static PasswordSource fixed(std::string password);
  static PasswordSource file(std::string path);

  bool empty() const noexcept { return !fixed_ && path_.empty(); }
  const std::string& path() const noexcept { return path_; }  ///< empty unless it is a file

  /// The password now; nothing if there is none. Exactly one trailing newline of a file is cut. What can be
  /// read only once (a pipe: `--password-file <(pass redis)`) is remembered.
  /// Throws Error{config}: a file that is missing, unreadable, empty, or has two lines.
  std::optional<std::string> read() const;

 private:
  mutable std::optional<std::string> fixed_;
  std::string path_;
};

/// One deployment: a server, the servers of a Sentinel or a Cluster, or the private one behind `local:`.
struct Target {
  enum class Topology { single, sentinel, cluster, local };

  Topology topology = Topology::single;
  std::string scheme = "redis";
  std::vector<Address> addresses;  ///< at least one, except for local:
  std::string master;              ///< what Sentinel calls the primary
  std::string user;                ///< ACL user; empty: the default user
  PasswordSource password;
  int db = 0;
  bool db_named = false;  ///< the user named a database; it may have been 0
  Tls tls;

  // Set by the code that opens it.
  bool to_primary = false;  ///< of a single server: a replica is a failure
  bool ask_run_id = false;  ///< several servers make a quorum, and no two of them may be one

  /// As a URL without secrets: "redis://***@host:6379/2". The only way a Target is printed.
  std::string str() const;

  /// As a URL for a nested rlock (RLOCK_URL): with the user, without the password.
  std::string url() const;
};

/// Reads a URL of product schemes: redis rediss valkey valkeys unix redis+unix redis+sentinel rediss+sentinel
/// redis+cluster rediss+cluster local. Percent-decodes user, password and path once.
/// Throws Error{usage}, whose text repeats nothing of the URL
/// but a scheme that we know: it may hold a password anywhere.
Target parse_target(std::string_view url);

/// How long the parts of a conversation may take.
struct Timeouts {
  Milliseconds connect{2000};  ///< name look-up, TCP, TLS and greeting, together, per attempt
  Milliseconds command{2000};  ///< one command, from the write to the answer
};

}  // namespace rlock
