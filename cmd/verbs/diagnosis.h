#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rlock {

/// One thing that makes a server fit to hold locks, or unfit.
struct Finding {
  std::string subject;  ///< "eviction"
  bool fit = true;
  std::string text;    ///< for a person: what is so, and what to do about it
  bool looked = true;  ///< else nobody knows whether it is fit
};

/// The lines "name:value" of an answer to INFO.
std::map<std::string, std::string> parse_info(std::string_view text);

/// Does it serve but some of the keys, and send us elsewhere for the others?
bool is_cluster_node(const std::map<std::string, std::string>& info);

/// What a server says about itself, judged by what locks need. What it does not say is not judged.
std::vector<Finding> diagnose(const std::map<std::string, std::string>& info);

}  // namespace rlock
