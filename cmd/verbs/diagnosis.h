#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rlock {

/// A fact that makes a server fit to hold locks, or unfit.
struct Finding {
  enum class Verdict { fit, unfit, not_looked_at };

  std::string subject;  ///< "eviction"
  Verdict verdict;
  std::string text;  ///< for people: the fact, and the remedy
};

/// The lines "name:value" of a reply to INFO.
std::map<std::string, std::string> parse_info(std::string_view text);

/// Is it a node of a Cluster, which serves only some keys and redirects calls for the others?
bool is_cluster_node(const std::map<std::string, std::string>& info);

/// Judges the facts of a server by the needs of locks. Missing facts are not judged.
std::vector<Finding> diagnose(const std::map<std::string, std::string>& info);

}  // namespace rlock
