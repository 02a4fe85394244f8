#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cmd/cli/options.h"

namespace rlock {

struct Settings;

/// The server and how to connect to it, according to one source: the flags, the environment, a profile or a config
/// file. The next source fills in what is missing.
struct ServerOptions {
  std::vector<std::string> urls;
  std::optional<std::string> password_file, user, prefix, config, profile;
  std::optional<std::string> cacert, cacertdir, cert, tls_key, sni;
  std::optional<std::int64_t> db;
  std::optional<Milliseconds> connect_timeout, command_timeout;
  std::optional<bool> tls, insecure, askpass, history, quiet, verbose;
  std::vector<OptionDefault> defaults;  ///< from a config file: defaults for options of verbs

  /// All sources, this one included, when they have been read. Only the ServerOptions of the command line
  /// keep them, so that no source is read twice.
  std::shared_ptr<const std::vector<Settings>> sources;
};

/// A row of the table of server settings. The options of the verbs, their help and manual are made from this table.
/// The config files, the variables, the precedence of sources and `rlock config` read it, too.
struct ServerSetting {
  using List = std::vector<std::string> ServerOptions::*;
  using Text = std::optional<std::string> ServerOptions::*;
  using Number = std::optional<std::int64_t> ServerOptions::*;
  using Duration = std::optional<Milliseconds> ServerOptions::*;
  using Truth = std::optional<bool> ServerOptions::*;

  enum class Where {
    everywhere,
    command_line,  ///< no file sets it
    files,         ///< declare_server_options() declares no option for it
  };

  std::string_view option;  ///< with its value: "-u, --url URL"; a config file uses the long name
  std::variant<List, Text, Number, Duration, Truth> member;
  std::string_view manual{};  ///< this and the next three: as in Option
  Offer offer = Offer::nothing;
  std::string_view standard{};
  std::string_view help{};
  const char* variable = nullptr;  ///< null: no variable sets it
  Where where = Where::everywhere;
  bool may_be_empty = false;  ///< a config file may set it to nothing
  bool listed = true;         ///< `rlock config` prints it from this table; false: by code of its own

  bool is_list() const { return std::holds_alternative<List>(member); }  ///< its values may contain passwords
  std::string_view names() const { return option.substr(0, option.find(' ', option.find("--"))); }
  std::string_view name() const { return names().substr(names().find("--") + 2); }  ///< "url"
  std::string_view value() const {                                                  ///< empty: it is a switch
    return option.substr(std::min(option.size(), names().size() + 1));
  }

  /// Parses a value and keeps it; that of a switch is "" or "no". Throws Error{usage} if the value is wrong.
  void set(ServerOptions& options, std::string_view text) const;

  /// Like set(), for a word of a config file or a variable: a switch takes yes and no. Throws also Error{config}.
  void set_in_words(ServerOptions& options, std::string_view text) const;

  /// Like set(), for the value of its variable. Throws Error{config} or Error{usage}.
  void set_from_variable(ServerOptions& options, const std::string& text) const;

  /// Takes the setting of `other` if `options` lacks it.
  void fill(ServerOptions& options, const ServerOptions& other) const;

  bool is_set(const ServerOptions& options) const;

  /// The value for people. Empty: it is not set, or it is a List, which may contain passwords.
  std::optional<std::string> shown(const ServerOptions& options) const;
};

std::span<const ServerSetting> server_settings();

/// Declares these settings as options that write into `options`, except those for files.
void declare_settings(VerbSpec& spec, ServerOptions& options);

/// The setting with this long name. Null: there is none.
const ServerSetting* find_server_setting(std::string_view name);

/// The same. REQUIRES: there is one.
const ServerSetting& server_setting(std::string_view name);

/// The value for the setter of a switch, from yes or no in a config file or a variable. Throws Error{config}.
std::string_view switch_value(std::string_view text);

}  // namespace rlock
