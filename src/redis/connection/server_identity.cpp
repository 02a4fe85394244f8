#include "redis/connection/server_identity.h"

#include <fmt/format.h>

#include "base/text.h"
#include "redis/rows.h"

namespace rlock {
namespace {

using Topology = Target::Topology;

std::string text_of(const Reply& reply) {
  const bool readable = reply.kind() == Reply::Kind::text || reply.kind() == Reply::Kind::status;
  return readable ? reply.text() : "";
}

/// The value of a field in a map, which arrives as a flat array.
std::string field(const Reply& map, std::string_view name) {
  if (map.kind() != Reply::Kind::array) return "";
  for (const auto& [key, value] : rows_of<2>(map.items()))
    if (text_of(key) == name) return text_of(value);
  return "";
}

Failure describe_sentinel(const Meant& meant, const Address& address, bool tls,
                          const std::optional<Reply>& masters) {
  std::vector<std::string> names;
  if (masters && masters->kind() == Reply::Kind::array)
    for (const Reply& master : masters->items())
      if (const std::string name = field(master, "name"); !name.empty()) names.push_back(name);
  std::string text = fmt::format(
      "it is a Sentinel, which keeps no locks; use --url {}",
      suggested_url(Topology::sentinel, address, tls, meant.db, names.size() == 1 ? names[0] : "NAME"));
  if (names.size() > 1) {
    for (std::string& name : names) name = sanitized(name);
    text += fmt::format(", where NAME is one of: {}", joined(names, ", "));
  }
  return {Error::config, text};
}

/// The reply to ROLE is: slave, host, port, …
Failure describe_replica(const Meant& meant, bool tls, const std::optional<Reply>& role) {
  std::string primary;
  if (role && role->kind() == Reply::Kind::array && role->items().size() > 2) {
    const auto port = role->at(2).kind() == Reply::Kind::integer ? role->at(2).integer() : 0;
    const Address address{.host = sanitized(text_of(role->at(1))), .port = static_cast<std::uint16_t>(port)};
    if (!address.host.empty()) primary = " of " + suggested_url(Topology::single, address, tls, meant.db);
  }
  return {Error::unreachable,
          fmt::format(
              "it is a read-only replica{}; name the primary or, if Sentinels watch it, redis+sentinel://",
              primary)};
}

}  // namespace

ServerIdentity read_hello(const Reply& reply) {
  return {.mode = field(reply, "mode"), .role = field(reply, "role"), .run_id = {}};
}

std::string read_info(const Reply& reply, std::string_view name) {
  for (const std::string& line : split(text_of(reply), '\n')) {
    const auto colon = line.find(':');
    if (line.substr(0, colon) == name && colon != std::string::npos)
      return line.substr(colon + 1, line.find('\r') - colon - 1);
  }
  return "";
}

bool is_unexpected(const Meant& meant, const ServerIdentity& who) {
  if (!who.mode.empty() && (who.mode == "sentinel") != meant.sentinel) return true;
  return meant.primary && who.role == "replica";
}

std::vector<std::string> question_to_unexpected(const ServerIdentity& who) {
  if (who.mode == "sentinel") return {"SENTINEL", "MASTERS"};
  if (who.role == "replica") return {"ROLE"};
  return {};
}

Failure describe_unexpected(const Meant& meant, const ServerIdentity& who, const Address& address, bool tls,
                            const std::optional<Reply>& answer) {
  if (who.mode == "sentinel") return describe_sentinel(meant, address, tls, answer);
  if (!meant.sentinel) return describe_replica(meant, tls, answer);
  const Topology topology = who.mode == "cluster" ? Topology::cluster : Topology::single;
  return {Error::config,
          fmt::format("it is no Sentinel; use --url {}", suggested_url(topology, address, tls, meant.db))};
}

std::string describe_cluster_node(const Address& address, bool tls) {
  return fmt::format("is a node of a cluster, and serves its own keys only: use --url {}",
                     suggested_url(Topology::cluster, address, tls));
}

std::string suggested_url(Topology topology, const Address& address, bool tls, int db,
                          const std::string& master) {
  Target target{.topology = topology, .addresses = {address}, .master = master, .tls = {.on = tls}};
  if (topology == Topology::sentinel) target.scheme += "+sentinel";
  if (topology == Topology::cluster) {
    target.scheme += "+cluster";
  } else {
    target.db = db;
  }
  if (!address.is_unix()) return target.str();
  if (topology == Topology::single) {
    target.scheme = "unix";
  } else {
    target.addresses = {{.host = "HOST", .port = standard_port(topology)}};
  }
  return target.str();
}

}  // namespace rlock
