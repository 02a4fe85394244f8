#include "cmd/app/offered_options.h"

#include <algorithm>
#include <iterator>

namespace rlock {

std::vector<Option> offered_options(const VerbSpec& spec) {
  // The option -k is offered although it has no paragraph: the manual describes it once for all verbs.
  const auto is_key = [](const Option& option) { return option.names.starts_with("-k,"); };
  std::vector<Option> options;
  for (const auto& group : spec.groups) {
    std::ranges::copy_if(group.options, std::back_inserter(options),
                         [&](const Option& option) { return is_documented(option) || is_key(option); });
  }
  options.push_back({.names = "-h, --help", .help = "print this help"});
  options.push_back({.names = "-V, --version", .help = "print the version of rlock"});
  return options;
}

std::vector<std::string> spelled_names(const Option& option) {
  std::vector<std::string> names;
  for (const char letter : letters(option)) names.push_back(std::string{"-"} + letter);
  for (const std::string_view name : long_names(option)) names.push_back("--" + std::string{name});
  return names;
}

}  // namespace rlock
