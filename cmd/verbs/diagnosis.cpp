#include "cmd/verbs/diagnosis.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/text.h"

namespace rlock {
namespace {

using Verdict = Finding::Verdict;

std::string value(const Info& info, const std::string& name) {
  const auto found = info.find(name);
  return found == info.end() ? "" : sanitized(found->second, 100);
}

Finding eviction(const Info& info) {
  const std::string policy = value(info, "maxmemory_policy");
  const bool limited = value(info, "maxmemory") != "0";
  if (!limited) return {"eviction", Verdict::fit, "no memory limit: nothing is evicted"};
  if (policy == "noeviction") return {"eviction", Verdict::fit, "maxmemory-policy is noeviction"};
  return {
      "eviction", Verdict::unfit,
      fmt::format("maxmemory-policy is {}: a lock can be evicted while it is held; set noeviction", policy)};
}

Finding persistence(const Info& info) {
  if (value(info, "aof_enabled") == "1")
    return {"persistence", Verdict::fit, "appendonly is on: locks survive a restart"};
  return {
      "persistence", Verdict::unfit,
      "appendonly is off: a restart forgets the locks, and two commands may run at once; set appendonly yes"};
}

Finding role(const Info& info) {
  if (value(info, "role") == "master") return {"role", Verdict::fit, "it is a primary"};
  return {"role", Verdict::unfit,
          fmt::format(
              "it is a replica of {}:{}: locks cannot be written; name that, or the Sentinels that watch it",
              value(info, "master_host"), value(info, "master_port"))};
}

/// A failover may lose writes that the replica did not have yet. This is no fault of the server, but users
/// should know it.
Finding replication(const Info& info) {
  const std::int64_t replicas = parse_count(value(info, "connected_slaves")).value_or(0);
  if (replicas == 0)
    return {"replication", Verdict::fit,
            "no replicas: no failover can lose a lock, but no server takes over either"};
  return {"replication", Verdict::fit,
          fmt::format("{}: a failover may forget the newest locks; see rlock run --sync-replicas",
                      counted(replicas, "replica"))};
}

}  // namespace

bool is_cluster_node(const Info& info) { return value(info, "cluster_enabled") == "1"; }

std::vector<Finding> diagnose(const Info& info) {
  std::vector<Finding> findings;
  if (info.contains("role")) findings.push_back(role(info));
  if (info.contains("maxmemory_policy")) findings.push_back(eviction(info));
  if (info.contains("aof_enabled")) findings.push_back(persistence(info));
  if (info.contains("connected_slaves") && value(info, "role") == "master")
    findings.push_back(replication(info));
  return findings;
}

}  // namespace rlock
