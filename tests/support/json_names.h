#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace rlock::test {

using ParsedJson = nlohmann::json;

/// The names of an object's members.
inline std::set<std::string> names_of(const ParsedJson& object) {
  std::set<std::string> names;
  for (const auto& [name, unused] : object.items()) names.insert(name);
  return names;
}

}  // namespace rlock::test
