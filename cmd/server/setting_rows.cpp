#include "cmd/server/setting_rows.h"

#include <fmt/format.h>

#include <functional>
#include <optional>

#include "base/text.h"
#include "cmd/server/configurable_options.h"
#include "cmd/server/deployment.h"
#include "redis/target.h"

namespace rlock {
namespace {

using Source = Settings::Source;

constexpr const char* kDefault = "default";

class Rows {
 public:
  Rows(const ServerOptions& flags, const std::vector<Settings>& sources) : flags_(flags), sources_(sources) {}

  std::vector<SettingRow> all() && {
    urls();
    password();
    text("user", &ServerOptions::user);
    one("db", [](const ServerOptions& said) { return shown(said.db); });
    text("prefix", &ServerOptions::prefix);
    one("tls", [](const ServerOptions& said) { return said.tls ? shown(*said.tls) : std::nullopt; });
    text("cacert", &ServerOptions::cacert);
    text("cacertdir", &ServerOptions::cacertdir);
    text("cert", &ServerOptions::cert);
    text("tls-key", &ServerOptions::tls_key);
    text("sni", &ServerOptions::sni);
    if (flags_.insecure) rows_.push_back({"insecure", "yes", "--insecure"});
    const Timeouts standard;
    duration("connect-timeout", &ServerOptions::connect_timeout, standard.connect);
    duration("command-timeout", &ServerOptions::command_timeout, standard.command);
    truth("history", &ServerOptions::history, Deployment{}.history);
    defaults();
    files();
    return std::move(rows_);
  }

 private:
  using Said = std::optional<std::string>;

  static Said shown(const std::optional<std::int64_t>& number) {
    if (!number) return std::nullopt;
    return std::to_string(*number);
  }
  static Said shown(bool truth) { return truth ? "yes" : "no"; }

  std::string from(const Settings& source, std::string_view name) const {
    const std::string path = sanitized(source.path);
    if (source.source == Source::profile)
      return fmt::format("[{}] in {}", sanitized(*profile_of(flags_)), path);
    if (source.source == Source::command_line) return fmt::format("--{}", name);
    return std::string{spelled_source(source, name, path)};
  }

  /// The first of the sources that says it.
  bool one(const std::string& name, const std::function<Said(const ServerOptions&)>& said) {
    for (const Settings& source : sources_)
      if (const Said value = said(source.options)) {
        rows_.push_back({name, sanitized(*value), from(source, name)});
        return true;
      }
    return false;
  }

  void text(const std::string& name, std::optional<std::string> ServerOptions::* member) {
    one(name, [member](const ServerOptions& said) { return said.*member; });
  }

  void truth(const std::string& name, std::optional<bool> ServerOptions::* member, bool standard) {
    const auto said = [member](const ServerOptions& options) -> Said {
      return options.*member ? shown(*(options.*member)) : std::nullopt;
    };
    if (!one(name, said)) rows_.push_back({name, *shown(standard), kDefault});
  }

  void duration(const std::string& name, std::optional<Milliseconds> ServerOptions::* member,
                Milliseconds standard) {
    const auto said = [member](const ServerOptions& options) -> Said {
      if (!(options.*member)) return std::nullopt;
      return exact(*(options.*member));
    };
    if (!one(name, said)) rows_.push_back({name, exact(standard), kDefault});
  }

  /// The options of verbs whose default can be changed.
  void defaults() {
    ConfigurableOptions options;
    for (const Option* option : options.all()) {
      const std::string name{long_names(*option).front()};
      const std::string_view standard = option->standard.empty() ? "not set" : option->standard;
      const OptionDefault found =
          default_of(sources_, *option).value_or(OptionDefault{name, std::string{standard}, kDefault});
      rows_.push_back({name, sanitized(found.value), found.from});
    }
  }

  void url(const std::string& url, const std::string& from) {
    rows_.push_back({"url", sanitized(parse_target(url).str()), from});
  }

  void urls() {
    for (const Settings& source : sources_) {
      for (const std::string& each : source.options.urls) url(each, from(source, "url"));
      if (!source.options.urls.empty()) return;
    }
    if (const auto other = environment_variable("REDIS_URL")) return url(*other, "REDIS_URL");
    url(std::string{kDefaultUrl}, "default: nobody named a server");
  }

  /// In the order of resolve(): what was typed for now, the URL, files and variables. What it is is not said.
  void password() {
    constexpr const char* kName = "password";
    for (const Settings& source : sources_)
      if (source.options.askpass) return rows_.push_back({kName, "asked for", from(source, "askpass")});
    for (const Settings& source : sources_) {
      if (source.behind_environment) break;
      if (password_file(source)) return;
    }
    for (const char* variable : kPasswordVariables) {
      if (environment_variable(variable)) return rows_.push_back({kName, "not shown", variable});
      if (file_behind_environment()) return;
    }
  }

  bool password_file(const Settings& source) {
    if (!source.options.password_file) return false;
    rows_.push_back(
        {"password", "in " + sanitized(*source.options.password_file), from(source, "password-file")});
    return true;
  }

  bool file_behind_environment() {
    for (const Settings& source : sources_)
      if (source.behind_environment && password_file(source)) return true;
    return false;
  }

  void files() {
    if (const auto profile = profile_of(flags_))
      rows_.push_back({"profile", sanitized(*profile), flags_.profile ? "--profile" : "RLOCK_PROFILE"});
    for (const Settings& source : sources_)
      if (source.source == Source::file)
        rows_.push_back({"config", sanitized(source.path), config_named_by()});
  }

  std::string config_named_by() const {
    for (const Settings& source : sources_)
      if (source.options.config) return from(source, "config");
    return kDefault;
  }

  const ServerOptions& flags_;
  const std::vector<Settings>& sources_;
  std::vector<SettingRow> rows_;
};

}  // namespace

std::vector<SettingRow> setting_rows(const ServerOptions& flags, const std::vector<Settings>& sources) {
  return Rows{flags, sources}.all();
}

}  // namespace rlock
