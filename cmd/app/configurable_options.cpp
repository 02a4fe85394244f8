#include "cmd/server/configurable_options.h"

#include "cmd/app/verb_table.h"

namespace rlock {
namespace {

/// The option of `spec` whose first long name is `name`, if it is configurable.
const Option* configurable(const VerbSpec& spec, std::string_view name) {
  const Option* option = name.size() > 1 ? spec.find(name) : nullptr;
  return option != nullptr && option->configurable && long_names(*option).front() == name ? option : nullptr;
}

}  // namespace

ConfigurableOptions::ConfigurableOptions() : verbs_(verbs()) {}

ConfigurableOptions::~ConfigurableOptions() = default;

const VerbSpec& ConfigurableOptions::spec(std::size_t verb) {
  while (made_.size() <= verb) made_.push_back(verbs_[made_.size()]->make());
  return made_[verb]->spec();
}

const Option* ConfigurableOptions::find(std::string_view name) {
  for (std::size_t verb = 0; verb < verbs_.size(); ++verb)
    if (const Option* option = configurable(spec(verb), name)) return option;
  return nullptr;
}

bool ConfigurableOptions::exists(std::string_view name) {
  for (std::size_t verb = 0; name.size() > 1 && verb < verbs_.size(); ++verb)
    if (spec(verb).find(name) != nullptr) return true;
  return false;
}

std::vector<const Option*> ConfigurableOptions::all() {
  std::vector<const Option*> found;
  for (std::size_t verb = 0; verb < verbs_.size(); ++verb)
    for (const auto& group : spec(verb).groups)
      for (const Option& option : group.options)
        if (option.configurable && find(long_names(option).front()) == &option) found.push_back(&option);
  return found;
}

}  // namespace rlock
