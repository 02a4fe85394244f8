#include "cmd/app/completion_words.h"

#include <algorithm>

namespace rlock {

void for_each_verb(const std::function<void(const VerbEntry& entry, const VerbSpec& spec)>& visit) {
  for (const VerbEntry* entry : verbs()) {
    const auto verb = entry->make();
    visit(*entry, verb->spec());
  }
}

std::vector<Option> offered_options(const VerbSpec& spec) {
  // The manual speaks of -k once for all verbs.
  const auto is_key = [](const Option& option) { return option.names.starts_with("-k,"); };
  std::vector<Option> options;
  for (const auto& group : spec.groups) {
    std::ranges::copy_if(group.options, std::back_inserter(options),
                         [&](const Option& option) { return is_documented(option) || is_key(option); });
  }
  options.push_back({.names = "-h, --help", .help = "say what this does"});
  options.push_back({.names = "-V, --version", .help = "say which rlock this is"});
  return options;
}

std::vector<std::string> spelled_names(const Option& option) {
  std::vector<std::string> names;
  for (const char letter : letters(option)) names.push_back(std::string{"-"} + letter);
  for (const std::string_view name : long_names(option)) names.push_back("--" + std::string{name});
  return names;
}

std::vector<std::string> nouns() {
  std::vector<std::string> names;
  for (const VerbEntry* entry : verbs()) {
    std::string noun{entry->name.substr(0, entry->name.find(' '))};
    if (std::ranges::find(names, noun) == names.end()) names.push_back(std::move(noun));
  }
  return names;
}

std::string about_noun(std::string_view noun) {
  std::string line;
  for (const VerbEntry* entry : verbs()) {
    if (entry->name == noun) return std::string{entry->summary};
    if (entry->name.starts_with(std::string{noun} + " "))
      line += (line.empty() ? "" : ", ") + std::string{entry->name.substr(noun.size() + 1)};
  }
  return line;
}

}  // namespace rlock
