// The options that every verb with a server has. Each is declared once, with a setter: parser, help, manual
// and completions read it, and so does the config file, whose names are the long ones
// (cmd/server/config.cpp).

#include "cmd/server/server_options.h"

#include "base/error.h"
#include "base/log.h"
#include "redis/target.h"

namespace rlock {
namespace {

Setter url_into(std::vector<std::string>& urls) {
  return [&urls](std::string_view value) {
    static_cast<void>(parse_target(value));  // here, so that the message names the option or the line
    urls.emplace_back(value);
  };
}

/// A switch of the command line, and a yes or no of a config file.
template <class Flag>
Setter on_or_off(Flag& flag) {
  return [&flag](std::string_view value) { flag = value != "no"; };
}

Setter path_into(std::optional<std::string>& path) {
  return [&path](std::string_view value) {
    if (value.empty()) throw Error{Error::usage, "expected the name of a file"};
    path = std::string{value};
  };
}

void declare_tls_options(VerbSpec& spec, ServerOptions& options) {
  spec.add(
      {.names = "--tls", .manual = "Use TLS, as the scheme rediss: does.", .set = on_or_off(options.tls)});
  spec.add({.names = "--cacert",
            .value = "F",
            .manual = "Trust the certificate authorities in file F instead of the system's.",
            .offer = Offer::file,
            .set = path_into(options.cacert)});
  spec.add({.names = "--cacertdir",
            .value = "D",
            .manual = "Trust the certificate authorities in folder D instead of the system's.",
            .offer = Offer::folder,
            .set = path_into(options.cacertdir)});
  spec.add({.names = "--cert",
            .value = "F",
            .manual = "Send the client certificate in file F to the server. It needs --tls-key.",
            .offer = Offer::file,
            .set = path_into(options.cert)});
  spec.add({.names = "--tls-key",
            .value = "F",
            .manual = "Use the private key in file F for --cert. The key must not have a passphrase.",
            .offer = Offer::file,
            .set = path_into(options.tls_key)});
  spec.add(
      {.names = "--sni",
       .value = "H",
       .manual = "Expect the name H in the certificate of the server, instead of the host name in the URL.",
       .set = into(options.sni)});
  spec.add({.names = "--insecure",
            .manual = "Do not check the certificate of the server: encrypt only.",
            .set = into(options.insecure)});
}

/// What redis-cli calls it.
void declare_foreign_server_options(VerbSpec& spec) {
  constexpr std::string_view kServer = "for a server say --url redis://HOST:PORT";
  constexpr std::string_view kPassword =
      "everybody could read it there; use --password-file, --askpass or RLOCK_PASSWORD";
  for (const std::string_view name : {"-p", "--host", "--port"}) spec.foreign.push_back({name, kServer});
  for (const std::string_view name : {"-a", "--pass", "--password"})
    spec.foreign.push_back({name, kPassword});
  spec.foreign.push_back({"--socket", "for a Unix socket say --url unix:///PATH"});
}

void declare_user(VerbSpec& spec, ServerOptions& options) {
  spec.add(
      {.names = "--password-file",
       .value = "F",
       .manual =
           "Read the password from file F at each connection. Without it, the variables RLOCK_PASSWORD_FILE and "
           "RLOCK_PASSWORD count.",
       .offer = Offer::file,
       .set = path_into(options.password_file)});
  spec.add({.names = "--askpass",
            .manual = "Ask for the password on the terminal.",
            .set = on_or_off(options.askpass)});
  spec.add({.names = "--user",
            .value = "NAME",
            .manual = "Authenticate as this ACL user, also if the URL names another one.",
            .set = into(options.user)});
}

}  // namespace

void declare_server_options(VerbSpec& spec, ServerOptions& options) {
  spec.group("Options of every verb that talks to a server (you may also write them before the verb)");
  spec.groups.back().elsewhere = true;
  spec.add(
      {.names = "-u, --url",
       .value = "URL",
       .help = "use this server; without it, RLOCK_URL",
       .manual =
           "URLS lists the schemes. Several --url name independent servers, of which a majority must grant the lock.",
       .set = url_into(options.urls)});
  declare_user(spec, options);
  spec.add({.names = "--db",
            .value = "N",
            .manual = "Select database N, from 0 to 1000000, also if the URL names another one.",
            .set = number(options.db, 0, 1'000'000)});
  spec.add(
      {.names = "--prefix",
       .value = "STR",
       .manual =
           "Put STR before every KEY, as a NameMapper of Redisson does. Without it, the variable RLOCK_PREFIX counts.",
       .set = into(options.prefix)});
  spec.add(
      {.names = "--config",
       .value = "FILE",
       .manual = "Read this configuration file and no other. Without it, the variable RLOCK_CONFIG counts.",
       .offer = Offer::file,
       .set = path_into(options.config)});
  spec.add(
      {.names = "--profile",
       .value = "NAME",
       .manual =
           "Also use the section [NAME] of the configuration files. Without it, the variable RLOCK_PROFILE counts.",
       .offer = Offer::profile,
       .set = [&options](std::string_view name) {
         if (name.empty()) throw Error{Error::usage, "expected the name of a profile"};
         options.profile = std::string{name};
       }});
  declare_tls_options(spec, options);
  spec.add(
      {.names = "--connect-timeout",
       .value = "DUR",
       .standard = "2s",
       .manual = "Give one attempt to connect at most DUR: for name lookup, connection, TLS and greeting.",
       .set = into(options.connect_timeout)});
  spec.add({.names = "--command-timeout",
            .value = "DUR",
            .standard = "2s",
            .manual = "Wait at most DUR for the reply to one request.",
            .set = into(options.command_timeout)});
  if (!spec.find("quiet")) declare_verbosity(spec);
  declare_foreign_server_options(spec);
  spec.server = &options;
}

void declare_file_options(VerbSpec& spec, ServerOptions& options) {
  spec.add({.names = "--history", .set = on_or_off(options.history)});
}

bool parse_truth(std::string_view text) {
  if (text == "yes" || text == "true" || text == "on" || text == "1") return true;
  if (text == "no" || text == "false" || text == "off" || text == "0") return false;
  throw Error{Error::config, "expected yes or no"};
}

void declare_verbosity(VerbSpec& spec) {
  spec.add({.names = "-q, --quiet", .manual = "Print errors and warnings only.", .set = [](std::string_view) {
              set_verbosity(Verbosity::quiet);
            }});
  spec.add(
      {.names = "-v, --verbose",
       .manual =
           "Also print what happens inside, with the time since the start. rlock prints each acquire and release, "
           "the first renewal, and each renewal after a failure. It also prints each redirection, failover and broken "
           "connection.",
       .set = [](std::string_view) { set_verbosity(Verbosity::verbose); }});
}

void declare_verbosity_elsewhere(VerbSpec& spec) {
  spec.group("Options of every verb");
  spec.groups.back().elsewhere = true;
  declare_verbosity(spec);
}

}  // namespace rlock
