// resolve() finds the servers from all sources, in these steps:
//
//   sources         They are read and merged (settings.h). For messages, rlock remembers where each setting came from.
//   targets         The URLs are parsed. If no source names a server, REDIS_URL or the default address counts.
//   complete()      It adds the options to each target.
//   refuse_same_server_twice()  After complete(): until then, two URLs may look different, and mean the same database.
//   password        It is for all servers whose URL has none. If the user has just typed it (--askpass), it is for
//                   all servers.
//   environment     Last, because it has the completed URLs.
//
// No typed option may be ignored silently, such as --tls beside a Unix socket. And two processes must not use
// different servers while they believe that they share one. So contradictions are errors, a default server is
// printed on stderr, and nested runs get the result as variables (environment).

#include "cmd/server/deployment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/as_given.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/key_text.h"
#include "base/log.h"
#include "base/percent.h"
#include "base/text.h"
#include "cmd/server/secrets.h"
#include "cmd/server/server_setting.h"
#include "cmd/server/settings.h"
#include "redis/route/local_directory.h"
#include "redis/route/slots.h"
#include "sync/calls/keys.h"

namespace rlock {
namespace {

bool has_tls_options(const ServerOptions& options) {
  return options.cacert || options.cacertdir || options.cert || options.tls_key || options.sni ||
         options.insecure.value_or(false);
}

/// A mistake in what the user typed is one of the command line (64), and one in a file or a variable is one of the
/// configuration (78).
Error::Kind mistake(bool typed) { return typed ? Error::usage : Error::config; }

/// Fills in what a URL leaves open. Typed options (`flags`) overrule the URL or are an error, because a typed
/// option must not be ignored silently.
void complete(Target& target, const ServerOptions& options, const ServerOptions& flags) {
  if (options.user && (target.user.empty() || flags.user)) target.user = *options.user;
  if (options.db && (!target.db_named || flags.db)) {
    target.db = static_cast<int>(*options.db);
    target.db_named = true;
  }
  if (target.topology == Target::Topology::cluster && target.db != 0)
    throw Error{mistake(flags.db.has_value()), as_given("db", "--db") + ": a cluster has no databases"};
  const bool speaks_tcp = target.topology != Target::Topology::local &&
                          (target.addresses.empty() || !target.addresses[0].is_unix());
  if (flags.tls.value_or(false) && !speaks_tcp)
    throw Error{Error::usage, fmt::format("--tls: {} is not reached over TCP", target.str())};
  if (options.tls.value_or(false) && speaks_tcp) target.tls.on = true;
  if (!target.tls.on) {
    if (has_tls_options(flags))
      throw Error{
          Error::usage,
          fmt::format(
              "--cacert, --cacertdir, --cert, --tls-key, --sni and --insecure need --tls or rediss://, "
              "and {} is neither",
              target.str())};
    return;
  }
  target.tls.cacert = options.cacert.value_or("");
  target.tls.cacertdir = options.cacertdir.value_or("");
  target.tls.cert = options.cert.value_or("");
  target.tls.key = options.tls_key.value_or("");
  target.tls.sni = options.sni.value_or("");
  // OpenSSL takes ".host" for any name below the host.
  if (options.sni && (options.sni->empty() || options.sni->starts_with('.')))
    throw Error{mistake(flags.sni.has_value()), as_given("sni", "--sni") + ": expected the name of a host"};
  target.tls.insecure = flags.insecure.value_or(false);  // only from the command line
  if (target.tls.cert.empty() != target.tls.key.empty())
    throw Error{mistake(flags.cert || flags.tls_key),
                fmt::format("{} and {} need each other", as_given("cert", "--cert"),
                            as_given("tls-key", "--tls-key"))};
}

/// Remembers where each setting came from, for messages.
void remember_sources(const std::vector<Settings>& sources) {
  for (const ServerSetting& setting : server_settings()) {
    const Settings* const found = first_with(sources, setting);
    const bool typed = found == nullptr || found->source == Settings::Source::command_line;
    const std::string_view name = setting.name();
    remember_default(
        name, typed ? std::string{}
                    : spelled_source(*found, name, fmt::format("{} in {}", name, sanitized(found->path))));
  }
}

/// The password itself, or its file. Remembers its source for messages.
PasswordSource password_of(const PasswordInForce& found) {
  if (found.asked)
    return PasswordSource::fixed(
        ask_password(as_given("askpass", "--askpass"), mistake(found.source->path.empty())));
  if (found.source != nullptr) {
    remember_default("password", as_given("password-file", "--password-file"));
    return PasswordSource::file(*found.source->options.password_file);
  }
  if (found.variable == nullptr) return {};
  remember_default("password", found.variable);
  return PasswordSource::fixed(*environment_variable(found.variable));
}

/// If the user gave one server twice, it could be a majority alone.
void refuse_same_server_twice(const std::vector<Target>& targets, Error::Kind kind, std::string_view source) {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (targets[i].topology == targets[j].topology && targets[i].addresses == targets[j].addresses &&
          targets[i].master == targets[j].master && targets[i].db == targets[j].db)
        throw Error{kind,
                    fmt::format("{}: {} is given twice; the nodes of a quorum must be different servers",
                                source, targets[i].str())};
    }
  }
}

/// A URL for other commands. The URL of the private server cannot name a database, but the URL of its socket
/// can.
std::string url_of(const Target& target) {
  if (target.topology != Target::Topology::local || target.db == 0) return target.url();
  return fmt::format("unix://{}?db={}", percent_encoded(LocalDirectory{}.socket(), is_path_character),
                     target.db);
}

/// The path as a nested run in another folder finds it. std::filesystem would add std::locale to each start.
std::string absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  const std::unique_ptr<char, decltype(&std::free)> here{::get_current_dir_name(), &std::free};
  return here ? std::string{here.get()} + "/" + path : path;
}

Variables environment_of(const Deployment& deployment, const PasswordSource& password) {
  std::optional<std::string> file, prefix;
  if (!password.path().empty()) file = absolute(password.path());
  if (!deployment.prefix.empty()) prefix = deployment.prefix;
  return {{"RLOCK_URL", joined(deployment.targets, " ", url_of)},
          {"RLOCK_PASSWORD_FILE", file},
          {"RLOCK_PREFIX", prefix}};
}

/// The options by which another command of this user reaches the same keys.
std::string options_of(const Deployment& deployment) {
  std::string words;
  if (deployment.typed) {
    for (const Target& target : deployment.targets)
      words += fmt::format("--url {} ", shell_word(url_of(target)));
  }
  if (!deployment.prefix.empty()) words += fmt::format("--prefix {} ", shell_quoted(deployment.prefix));
  return words;
}

}  // namespace

std::vector<Target> targets_in_force(const ServerOptions& flags, const std::vector<Settings>& sources,
                                     const ServerOptions& all) {
  remember_sources(sources);
  const UrlsInForce found = urls_in_force(sources);
  const std::string source = found.source != nullptr ? as_given("url", "--url") : "REDIS_URL";
  std::vector<Target> targets;
  for (const std::string& url : found.urls) {
    try {
      targets.push_back(parse_target(url));
    } catch (const Error& error) {  // adds the source of the URL
      throw Error{error.kind(), fmt::format("{}: {}", source, error.what())};
    }
    complete(targets.back(), all, flags);
  }
  // A URL in a variable counts as typed.
  const bool in_file = found.source != nullptr && !found.source->path.empty();
  refuse_same_server_twice(targets, mistake(!in_file), source);
  return targets;
}

Deployment resolve(const ServerOptions& flags) {
  const std::vector<Settings> sources = flags.sources ? *flags.sources : settings_of(flags);
  const ServerOptions all = merged(sources);
  Deployment deployment{.prefix = all.prefix.value_or("")};
  deployment.timeouts.connect = all.connect_timeout.value_or(deployment.timeouts.connect);
  deployment.timeouts.command = all.command_timeout.value_or(deployment.timeouts.command);
  deployment.history = all.history.value_or(deployment.history);
  deployment.named = !urls_in_force(sources).standard;
  deployment.typed = !flags.urls.empty() || flags.user || flags.db || flags.tls.value_or(false) ||
                     flags.profile || flags.config;
  deployment.targets = targets_in_force(flags, sources, all);
  const PasswordInForce password_from = password_in_force(sources);
  const PasswordSource password = password_of(password_from);
  for (Target& target : deployment.targets) {
    // A password in a URL comes before the common one, unless the user has just typed one (--askpass).
    if (password_from.asked || target.password.empty()) {
      target.password = password;
    } else {
      remember_default("password", "");
    }
  }
  deployment.environment = environment_of(deployment, password);
  deployment.environment.emplace_back("RLOCK_PROFILE", profile_of(flags));
  if (profile_of(flags) && flags.config)  // the file with that profile
    deployment.environment.emplace_back("RLOCK_CONFIG", absolute(*flags.config));
  return deployment;
}

void announce(const Deployment& deployment) {
  set_key_text(deployment.prefix, options_of(deployment));
  if (!deployment.named)
    warn(fmt::format("no server was named: using {}, which is a different server on each host; see --url",
                     deployment.targets[0].str()));
}

void check_key(std::string_view key) {
  if (key.empty()) throw Error{Error::usage, "a key has at least one byte"};
  if (key.size() > kLongestKey)
    throw Error{Error::usage, fmt::format("a key has at most {} bytes", kLongestKey)};
}

bool Deployment::has_cluster() const {
  return std::ranges::find(targets, Target::Topology::cluster, &Target::topology) != targets.end();
}

bool Deployment::lie_together(const std::vector<LockName>& names) const {
  const auto slot = [](const LockName& name) { return slot_of(name.str()); };
  return !has_cluster() ||
         std::ranges::all_of(names, [&](const auto& name) { return slot(name) == slot(names.front()); });
}

LockName Deployment::name(const std::string& key) const {
  check_key(key);
  if (prefix.size() + key.size() > kLongestKey)
    throw Error{mistake(prefix.size() < kLongestKey || as_given("prefix", "").empty()),
                fmt::format("{} and key together have more than {} bytes", as_given("prefix", "--prefix"),
                            kLongestKey)};
  const LockName full{prefix + key};
  if (has_cluster() && !placeable(full))
    throw Error{
        Error::config,
        fmt::format("a cluster cannot keep {} and the names beside it in one slot: its braces have to "
                    "hold something, as in {{orders}}:eu",
                    in_quotes(full.str()))};
  return full;
}

}  // namespace rlock
