#include "cmd/server/settings_in_force.h"

#include <fmt/format.h>

#include "base/as_given.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/server/configurable_options.h"
#include "cmd/server/deployment.h"
#include "cmd/server/server_setting.h"
#include "redis/connection/target.h"
#include "sync/hold/lease.h"

namespace rlock {
namespace {

using Source = Settings::Source;

constexpr const char* kDefault = "default";

/// Warns of a lease that rlock run refuses. It is in force nevertheless, for holds that no process renews.
void warn_of_lease(const OptionDefault& lease) {
  remember_default(lease.name, lease.as_written());
  try {
    static_cast<void>(plan_budget({.lease = parse_duration(lease.value), .kill_after = Milliseconds{1}}));
  } catch (const Error& error) {  // the other settings are in force
    warn(error.what());
  }
}

class SettingRows {
 public:
  SettingRows(const ServerOptions& flags, const std::vector<Settings>& sources)
      : flags_(flags), sources_(sources) {}

  std::vector<SettingInForce> all() && {
    urls();
    password();
    for (const ServerSetting& setting : server_settings())
      if (setting.listed) row(setting);
    defaults();
    files();
    return std::move(rows_);
  }

 private:
  std::string from(const Settings& source, std::string_view name) const {
    const std::string path = sanitized(source.path);
    if (source.source == Source::profile)
      return fmt::format("[{}] in {}", sanitized(*profile_of(flags_)), path);
    return spelled_source(source, name, path);
  }

  /// Adds a row for the first source that has this setting, else for its default.
  void row(const ServerSetting& setting) {
    const std::string name{setting.name()};
    if (const Settings* const source = first_with(sources_, setting)) {
      rows_.push_back({name, sanitized(*setting.shown(source->options)), from(*source, name)});
    } else if (!setting.standard.empty()) {
      rows_.push_back({name, std::string{setting.standard}, kDefault});
    }
  }

  /// Adds the options of verbs whose defaults can be changed.
  void defaults() {
    ConfigurableOptions options;
    for (const Option* option : options.all()) {
      const std::string name{long_names(*option).front()};
      const std::string_view standard = option->standard.empty() ? "not set" : option->standard;
      const auto found = default_of(sources_, *option);
      if (found) found->give_to(*option);  // throws if every verb would refuse the value
      if (found && name == "lease") warn_of_lease(*found);
      rows_.push_back(
          {name, found ? sanitized(found->value) : std::string{standard}, found ? found->from : kDefault});
    }
  }

  void url(const std::string& url, const std::string& from) {
    const Target target = parse_target(url);
    rows_.push_back({"url", sanitized(target.str()), from});
    if (target.password.empty()) {
      all_urls_have_passwords_ = false;
    } else {
      url_with_password_from_ = from;
    }
  }

  void urls() {
    const UrlsInForce found = urls_in_force(sources_);
    const char* const other = found.standard ? "default: no server was named" : "REDIS_URL";
    const std::string source = found.source != nullptr ? from(*found.source, "url") : other;
    for (const std::string& each : found.urls) url(each, source);
  }

  /// Adds the source of the password.
  void password() {
    constexpr const char* kName = "password";
    const PasswordInForce found = password_in_force(sources_);
    if (found.asked) return rows_.push_back({kName, "asked for", from(*found.source, "askpass")});
    // The other passwords are for URLs that have none.
    if (!url_with_password_from_.empty()) rows_.push_back({kName, "in the URL", url_with_password_from_});
    if (all_urls_have_passwords_) return;
    if (found.source != nullptr) {
      rows_.push_back({kName, "in " + sanitized(*found.source->options.password_file),
                       from(*found.source, "password-file")});
    } else if (found.variable != nullptr) {
      rows_.push_back({kName, "not shown", found.variable});
    }
  }

  void files() {
    if (const auto profile = profile_of(flags_))
      rows_.push_back({"profile", sanitized(*profile), flags_.profile ? "--profile" : "RLOCK_PROFILE"});
    for (const Settings& source : sources_)
      if (source.source == Source::file)
        rows_.push_back({"config", sanitized(source.path), config_named_by()});
  }

  std::string config_named_by() const {
    const Settings* const source = first_with(sources_, server_setting("config"));
    return source != nullptr ? from(*source, "config") : kDefault;
  }

  const ServerOptions& flags_;
  const std::vector<Settings>& sources_;
  std::vector<SettingInForce> rows_;
  std::string url_with_password_from_;   ///< the source of a URL with a password; empty: no URL has one
  bool all_urls_have_passwords_ = true;  ///< of the URLs in force
};

}  // namespace

std::vector<SettingInForce> settings_in_force(const ServerOptions& flags,
                                              const std::vector<Settings>& sources) {
  static_cast<void>(
      targets_in_force(flags, sources, merged(sources)));  // refuses what the verbs would refuse
  return SettingRows{flags, sources}.all();
}

}  // namespace rlock
