#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "cmd/cli/options.h"

namespace rlock {

class Verb;
struct VerbEntry;

/// The options of all verbs whose defaults a config file may set (Option::configurable). If several verbs
/// have an option of the same name, the first verb in the table counts. The setters write into verbs that
/// never act. cmd/app/configurable_options.cpp implements it, because only cmd/app knows the verbs.
class ConfigurableOptions {
 public:
  ConfigurableOptions();
  ~ConfigurableOptions();
  ConfigurableOptions(const ConfigurableOptions&) = delete;
  ConfigurableOptions& operator=(const ConfigurableOptions&) = delete;

  /// The option with this long name, without dashes. Null: there is none.
  const Option* find(std::string_view name);

  /// Has any verb this option, configurable or not?
  bool exists(std::string_view name);

  /// All of these options, each name once.
  std::vector<const Option*> all();

 private:
  const VerbSpec& spec(std::size_t verb);

  const std::vector<const VerbEntry*> verbs_;
  /// Verbs are made when they are needed: few files name an option, and `run` comes first and has most of
  /// them.
  std::vector<std::unique_ptr<Verb>> made_;
};

}  // namespace rlock
