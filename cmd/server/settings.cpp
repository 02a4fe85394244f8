// Where a setting can come from: the command line, the environment, a profile, and the rest of a config file. Each
// source is read into a Settings of its own. Their order in settings_of() is their rank, and merged() takes each
// setting from the first that has it. The table of server_setting.h has what each setting is called in each source.

#include "cmd/server/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/as_given.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/server/config.h"
#include "cmd/server/secrets.h"
#include "cmd/server/server_setting.h"

namespace rlock {
namespace {

/// The URL if no source names a server.
constexpr const char* kDefaultUrl = "redis://127.0.0.1:6379";

ServerOptions from_environment() {
  ServerOptions options;
  for (const ServerSetting& setting : server_settings())
    if (setting.variable != nullptr)
      if (const auto value = environment_variable(setting.variable))
        setting.set_from_variable(options, *value);
  return options;
}

/// Takes the verbosity from the files, unless the command line has set it already. `quiet` and `verbose` are two words
/// for one setting: a source that says one of them overrules both in the less important ones.
void take_verbosity(std::vector<Settings>& sources) {
  bool said = false;
  for (Settings& source : sources) {
    ServerOptions& options = source.options;
    if (said) options.quiet = options.verbose = std::nullopt;
    if (options.quiet.value_or(false)) options.verbose.reset();
    said = said || options.quiet.value_or(false) || options.verbose.value_or(false);
  }
  if (verbosity() != Verbosity::normal) return;
  const ServerOptions all = merged(sources);
  if (all.verbose.value_or(false)) set_verbosity(Verbosity::verbose);
  if (all.quiet.value_or(false)) set_verbosity(Verbosity::quiet);
}

/// The settings of the files, the more important first: those of the profile, and the rest.
struct Files {
  std::vector<Settings> profiles, rest;
  std::vector<std::string> known;  ///< the names of all profiles
};

Files read_files(const std::vector<std::string>& paths, const std::string& name) {
  Files files;
  for (const std::string& path : paths) {
    Profile profile{.name = name};
    Settings rest{.source = Settings::Source::file, .path = path, .behind_environment = true};
    read_config(path, rest.options, profile);
    files.rest.push_back(std::move(rest));
    files.known.insert(files.known.end(), profile.known.begin(), profile.known.end());
    if (profile.found)
      files.profiles.push_back({.source = Settings::Source::profile,
                                .path = path,
                                .options = std::move(profile.options),
                                .behind_environment = true});
  }
  return files;
}

[[noreturn]] void refuse_profile(const ServerOptions& flags, const std::vector<std::string>& paths,
                                 const std::vector<std::string>& known) {
  const std::string none = fmt::format("{}there is no profile {}",
                                       flags.profile ? "" : "RLOCK_PROFILE: ", in_quotes(*profile_of(flags)));
  if (paths.empty())
    throw Error{Error::config, none + ": there is no configuration file (see FILES in rlock(1))"};
  throw Error{Error::config, known.empty()
                                 ? fmt::format("{}: {} has no section [NAME]", none, in_quotes(paths[0]))
                                 : fmt::format("{}; there are: {}", none, joined(known, ", "))};
}

}  // namespace

const Settings* first_with(const std::vector<Settings>& sources, const ServerSetting& setting) {
  const auto has_it = [&](const Settings& one) { return setting.is_set(one.options); };
  const auto found = std::ranges::find_if(sources, has_it);
  return found != sources.end() ? &*found : nullptr;
}

UrlsInForce urls_in_force(const std::vector<Settings>& sources) {
  if (const Settings* const source = first_with(sources, server_setting("url")))
    return {.urls = source->options.urls, .source = source};
  if (const auto url = environment_variable("REDIS_URL")) return {.urls = {*url}};
  return {.urls = {kDefaultUrl}, .standard = true};
}

PasswordInForce password_in_force(const std::vector<Settings>& sources) {
  std::optional<bool> asks;  // as the most important source says: a profile may say no, and overrule a file
  for (const Settings& source : sources) {
    if (source.behind_environment && environment_variable(kPasswordVariables.front())) break;
    if (!asks) asks = source.options.askpass;
    const bool asked = asks.value_or(false) && source.options.askpass.value_or(false);
    if (asked || source.options.password_file) return {.source = &source, .asked = asked};
  }
  for (const char* variable : kPasswordVariables)
    if (environment_variable(variable)) return {.variable = variable};
  return {};
}

std::optional<std::string> profile_of(const ServerOptions& flags) {
  return flags.profile ? flags.profile : environment_variable("RLOCK_PROFILE");
}

/// The files to read: the named one alone, or else those that stand where rlock looks for them.
std::vector<std::string> configs_of(const ServerOptions& flags) {
  const auto named = flags.config ? flags.config : environment_variable("RLOCK_CONFIG");
  return named ? std::vector{*named} : standard_configs();
}

std::vector<std::string> profile_names(const ServerOptions& flags) {
  std::vector<std::string> names = read_files(configs_of(flags), "").known;
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

std::vector<Settings> settings_of(const ServerOptions& flags) {
  std::vector<Settings> sources{{.source = Settings::Source::command_line, .options = flags},
                                {.source = Settings::Source::environment, .options = from_environment()}};
  const std::string name = profile_of(flags).value_or("");
  const std::vector<std::string> paths = configs_of(flags);
  remember_default("config", sources[1].options.config && !flags.config ? "RLOCK_CONFIG" : "");
  Files files = read_files(paths, name);
  if (!name.empty() && files.profiles.empty()) refuse_profile(flags, paths, files.known);
  // A user who types a profile wants its server, whatever the environment says.
  for (Settings& profile : files.profiles) profile.behind_environment = !flags.profile;
  sources.insert(flags.profile ? sources.begin() + 1 : sources.end(),
                 std::make_move_iterator(files.profiles.begin()),
                 std::make_move_iterator(files.profiles.end()));
  std::ranges::move(files.rest, std::back_inserter(sources));
  take_verbosity(sources);
  return sources;
}

ServerOptions merged(const std::vector<Settings>& sources) {
  ServerOptions all;
  for (const Settings& source : sources)
    for (const ServerSetting& setting : server_settings()) setting.fill(all, source.options);
  return all;
}

std::optional<OptionDefault> default_of(const std::vector<Settings>& sources, const Option& option) {
  const std::string name{long_names(option).front()};
  const std::string variable{option.variable};
  for (const Settings& source : sources) {
    if (source.source == Settings::Source::environment && !variable.empty())
      if (const auto value = environment_variable(variable.c_str()))
        return OptionDefault{name, *value, variable};
    if (!option.configurable) continue;
    const auto found = std::ranges::find(source.options.defaults, name, &OptionDefault::name);
    if (found != source.options.defaults.end()) return *found;
  }
  return std::nullopt;
}

std::optional<OptionDefault> default_of(ServerOptions& flags, const Option& option) {
  if (!flags.sources) flags.sources = std::make_shared<const std::vector<Settings>>(settings_of(flags));
  return default_of(*flags.sources, option);
}

std::string spelled_source(const Settings& source, std::string_view name, std::string_view in_file) {
  if (source.source == Settings::Source::command_line) return fmt::format("--{}", name);
  if (source.source == Settings::Source::environment) return server_setting(name).variable;
  return std::string{in_file};
}

}  // namespace rlock
