#pragma once

#include <string>
#include <vector>

#include "redis/connection/server_identity.h"

namespace rlock {

/// A fact that makes a server fit to hold locks, or unfit.
struct Finding {
  enum class Verdict { fit, unfit, not_looked_at };

  std::string subject;  ///< "eviction"
  Verdict verdict;
  std::string text;  ///< for people: the fact, and the remedy
};

/// Is it a node of a Cluster, which serves only some keys and redirects calls for the others?
bool is_cluster_node(const Info& info);

/// Judges the facts of a server by the needs of locks. Missing facts are not judged.
std::vector<Finding> diagnose(const Info& info);

}  // namespace rlock
