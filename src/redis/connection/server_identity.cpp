#include "redis/connection/server_identity.h"

#include <fmt/format.h>

#include "base/percent.h"
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
    for (std::string& name : names) name = percent_encoded(name, is_unreserved);
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

Info parse_info(std::string_view text) {
  Info info;
  const std::vector<std::string> lines = split(text, '\n');
  for (std::string_view line : lines) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && !line.starts_with('#'))
      info[std::string{line.substr(0, colon)}] = line.substr(colon + 1);
  }
  return info;
}

std::string read_info(const Reply& reply, const std::string& name) {
  const Info info = parse_info(text_of(reply));
  const auto found = info.find(name);
  return found != info.end() ? found->second : "";
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
  const std::string_view kind = topology == Topology::cluster    ? "+cluster"
                                : topology == Topology::sentinel ? "+sentinel"
                                                                 : "";
  std::string url =
      fmt::format("redis{}{}://{}", tls ? "s" : "", kind, address.is_unix() ? "HOST:PORT" : address.in_url());
  if (!master.empty()) url += "/" + percent_encoded(master, is_unreserved);
  if (db != 0 && topology != Topology::cluster) url += fmt::format("/{}", db);
  return url;
}

}  // namespace rlock
