#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/connection/target.h"
#include "redis/failure.h"
#include "redis/reply.h"

namespace rlock {

/// A server's facts about itself, from its replies to HELLO and INFO. A field is empty if the server does not
/// tell it (a proxy, an ACL).
struct ServerIdentity {
  std::string mode;    ///< "standalone", "cluster" or "sentinel"
  std::string role;    ///< "master" or "replica"
  std::string run_id;  ///< id of this run of the server; asked for in a quorum, and in RESP2
};

/// What a URL says of the server that a connection is meant for.
struct Meant {
  bool sentinel = false;  ///< false: a server that keeps data
  bool primary = false;   ///< a replica is refused
  int db = 0;             ///< the database; of a Sentinel: of its primary

  /// The database to select. 0: none needs to be selected.
  int selected() const { return sentinel ? 0 : db; }
};

/// Reads a reply to HELLO. It does not tell `run_id`.
[[nodiscard]] ServerIdentity read_hello(const Reply& reply);

/// A reply to INFO: its lines "name:value".
using Info = std::map<std::string, std::string>;
[[nodiscard]] Info parse_info(std::string_view text);

/// Reads one field of a reply to INFO, such as "run_id". Empty for an error reply.
[[nodiscard]] std::string read_info(const Reply& reply, const std::string& name);

/// Is the server of another kind than was meant?
[[nodiscard]] bool is_unexpected(const Meant& meant, const ServerIdentity& who);

/// The question to a server of another kind, whose answer helps to name the right URL. Empty: no question.
std::vector<std::string> question_to_unexpected(const ServerIdentity& who);

/// Describes a server of another kind, and names the URL for it. `answer`: its reply to
/// question_to_unexpected(). A wrong kind is an error of the configuration (78). A replica counts as
/// unreachable, because it may become the primary.
Failure describe_unexpected(const Meant& meant, const ServerIdentity& who, const Address& address, bool tls,
                            const std::optional<Reply>& answer);

/// Describes a node of a Cluster at a URL of one server, and names the URL for it: "is a node of a cluster, …". The
/// caller writes the subject.
std::string describe_cluster_node(const Address& address, bool tls);

/// The URL for an address with another topology, without user and password: "rediss+cluster://10.0.0.1:7000".
std::string suggested_url(Target::Topology topology, const Address& address, bool tls, int db = 0,
                          const std::string& master = {});

}  // namespace rlock
