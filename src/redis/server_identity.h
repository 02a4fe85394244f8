#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/failure.h"
#include "redis/reply.h"
#include "redis/target.h"

namespace rlock {

/// What a server says of itself, in its answers to HELLO and INFO.
/// A field is empty if the server does not say it (a proxy, an ACL).
struct ServerIdentity {
  std::string mode;    ///< "standalone", "cluster" or "sentinel"
  std::string role;    ///< "master" or "replica"
  std::string run_id;  ///< of this run of this server; asked for only where several servers make a quorum
};

/// The kind of server that a connection is meant for.
struct Meant {
  bool sentinel = false;  ///< else a server that keeps data
  bool primary = false;   ///< a replica will not do
};

/// Reads an answer to HELLO.
[[nodiscard]] ServerIdentity read_hello(const Reply& reply);

/// Reads an answer to INFO: the value of "run_id", say. An error is an answer that says nothing.
[[nodiscard]] std::string read_info(const Reply& reply, std::string_view name);

/// Is the server of another kind than the one that was meant?
[[nodiscard]] bool is_stranger(const Meant& meant, const ServerIdentity& who);

/// What to ask a stranger, so that the right URL can be said; empty: nothing.
std::vector<std::string> question_to_stranger(const ServerIdentity& who);

/// Who it is, and by which URL it is reached. `answer`: to that question. A server of another kind stays one,
/// which is a matter of configuration (78); a replica may become the primary (unreachable).
Failure describe_stranger(const Meant& meant, const ServerIdentity& who, const Address& address, bool tls,
                          const std::optional<Reply>& answer);

/// A URL that reaches an address as something else, without secrets: "rediss+cluster://10.0.0.1:7000".
std::string url_of(Target::Topology topology, const Address& address, bool tls,
                   const std::string& master = {});

}  // namespace rlock
