#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/cli/options.h"
#include "cmd/server/server_setting.h"

namespace rlock {

/// The settings of one source.
struct Settings {
  enum class Source { command_line, environment, profile, file };

  Source source;
  std::string path{};  ///< for a profile and a file
  ServerOptions options{};
  bool behind_environment = false;  ///< the environment overrules it
};

/// All sources, the more important first. Each one fills in what those before it lack. The first two are the command
/// line and the profile of --profile. The environment, the profile of RLOCK_PROFILE, and the lines of the files that
/// are in no profile follow. Throws Error{config} for errors in a file, and for an unknown profile.
std::vector<Settings> settings_of(const ServerOptions& flags);

/// The settings of all sources; each one fills in what those before it lack.
ServerOptions merged(const std::vector<Settings>& sources);

/// The first source that has this setting, which counts; null: none has it.
const Settings* first_with(const std::vector<Settings>& sources, const ServerSetting& setting);

/// The URLs of the servers.
struct UrlsInForce {
  std::vector<std::string> urls;
  const Settings* source = nullptr;  ///< null: no source names a server, so REDIS_URL or the default counts
  bool standard = false;             ///< it is the default
};

UrlsInForce urls_in_force(const std::vector<Settings>& sources);

/// Where the password comes from that is for all servers whose URL has none. If rlock asks for it, it is for all
/// servers.
struct PasswordInForce {
  const Settings* source = nullptr;  ///< its --askpass or --password-file counts; null: none does
  bool asked = false;                ///< it is --askpass
  const char* variable = nullptr;    ///< contains the password; null: none does
};

/// RLOCK_PASSWORD overrules a config file; the variables of other programs do not.
PasswordInForce password_in_force(const std::vector<Settings>& sources);

/// The name of the profile in force.
std::optional<std::string> profile_of(const ServerOptions& flags);

/// The names of all profiles in the files in force.
std::vector<std::string> profile_names(const ServerOptions& flags);

/// The default of an option that was not typed, if the environment or a config file sets one.
std::optional<OptionDefault> default_of(const std::vector<Settings>& sources, const Option& option);

/// Like the other default_of(), for the flags of this command line. The sources are read once, and kept in
/// `flags`.
std::optional<OptionDefault> default_of(ServerOptions& flags, const Option& option);

/// Names the place that a setting comes from, for people: "--url", "RLOCK_URL", or `in_file` if it is a file.
/// `name`: the long option without dashes.
std::string spelled_source(const Settings& source, std::string_view name, std::string_view in_file);

}  // namespace rlock
