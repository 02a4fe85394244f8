#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/cli/options.h"

namespace rlock {

struct Settings;

/// Which server, and how to speak to it, as one source says it: the flags, the environment or a config file.
/// What it does not say is left to the next source.
struct ServerOptions {
  std::vector<std::string> urls;
  std::optional<std::string> password_file, user, prefix, config, profile;
  std::optional<std::string> cacert, cacertdir, cert, tls_key, sni;
  std::optional<std::int64_t> db;
  std::optional<Milliseconds> connect_timeout, command_timeout;
  std::optional<bool> tls, history;
  bool insecure = false, askpass = false;
  std::vector<OptionDefault> defaults;  ///< of a configuration file: for options of other kinds

  /// Of the flags: all sources, where they have been read already.
  std::shared_ptr<const std::vector<Settings>> sources;
};

/// Declares them, each writing into `options`, and -q and -v where they have not been declared yet. The names
/// are also those of the config file, except `insecure`, `config` and `profile`.
void declare_server_options(VerbSpec& spec, ServerOptions& options);

/// What a config file may say besides, and the command line may not, since it is no matter of one call: `history`.
void declare_file_options(VerbSpec& spec, ServerOptions& options);

/// Yes or no, as config files and variables say it. Throws Error{config}.
bool parse_truth(std::string_view text);

/// -q and -v. `elsewhere`: for a verb that talks to no server and whose screen does not show them.
void declare_verbosity(VerbSpec& spec);
void declare_verbosity_elsewhere(VerbSpec& spec);

}  // namespace rlock
