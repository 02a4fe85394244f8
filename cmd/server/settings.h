#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/cli/options.h"
#include "cmd/server/server_options.h"

namespace rlock {

/// Where locks live, as several sources say it.

/// What one of them says.
struct Settings {
  enum class Source { command_line, environment, profile, file };

  Source source;
  std::string path{};  ///< of a profile and a file
  ServerOptions options{};
  bool behind_environment = false;  ///< the environment overrules it
};

/// All of them, the more important first: what one leaves open is left to the next. A profile that was typed
/// overrules the environment, one that the environment names does not; each overrules what stands in the
/// files outside of profiles.
/// Throws Error{config} for what a file says, and for a profile that there is not.
std::vector<Settings> settings_of(const ServerOptions& flags);

/// What those of them say together that are `wanted`.
ServerOptions merged(const std::vector<Settings>& sources,
                     const std::function<bool(const Settings&)>& wanted);

/// Adds what `other` says and `options` leaves open.
void fill(ServerOptions& options, const ServerOptions& other);

/// The profile in force.
std::optional<std::string> profile_of(const ServerOptions& flags);

/// All that the files in force have a section for.
std::vector<std::string> profile_names(const ServerOptions& flags);

/// The default of an option that was not typed, if the environment or a configuration file has one.
std::optional<OptionDefault> default_of(const std::vector<Settings>& sources, const Option& option);

/// The same for the flags of this command line. The sources are read once, and kept in `flags`.
std::optional<OptionDefault> default_of(ServerOptions& flags, const Option& option);

/// Where a setting comes from, as people spell it: "--url", "RLOCK_URL", else `in_file`. `name`: its long
/// option without dashes.
std::string_view spelled_source(const Settings& source, std::string_view name, std::string_view in_file);

/// An empty variable is an unset one. The environment of a set-uid program is not believed.
std::optional<std::string> environment_variable(const char* name);

/// What is used where nobody names a server.
constexpr std::string_view kDefaultUrl = "redis://127.0.0.1:6379";

}  // namespace rlock
