// The options of every verb with a server, made of the table of settings (server_setting.cpp), and -q and -v.

#include "cmd/server/server_options.h"

#include "base/log.h"
#include "cmd/server/settings.h"

namespace rlock {
namespace {

/// Declares the names that redis-cli and other programs have for these options, with our advice.
void declare_options_of_other_tools(VerbSpec& spec) {
  constexpr std::string_view kServer = "for a server say --url redis://HOST:PORT";
  constexpr std::string_view kPassword =
      "every user of this host can read a password on the command line; use --password-file, --askpass or "
      "RLOCK_PASSWORD";
  for (const std::string_view name : {"-p", "--host", "--port"}) spec.other_tools.push_back({name, kServer});
  for (const std::string_view name : {"-a", "--pass", "--password"})
    spec.other_tools.push_back({name, kPassword});
  spec.other_tools.push_back({"--socket", "for a Unix socket say --url unix:///PATH"});
}

}  // namespace

void declare_server_options(VerbSpec& spec, ServerOptions& options) {
  spec.group("Options of every verb that talks to a server (you may also write them before the verb)");
  spec.groups.back().elsewhere = true;
  declare_settings(spec, options);
  if (!spec.find("quiet")) declare_verbosity(spec, &options);
  declare_options_of_other_tools(spec);
  spec.find_default = [&options](const Option& option) { return default_of(options, option); };
}

void declare_verbosity(VerbSpec& spec, ServerOptions* options) {
  // The options take effect at once, because the text of --version depends on -v.
  const auto sets = [options](Verbosity verbosity, std::optional<bool> ServerOptions::* member) {
    return [=](std::string_view) {
      set_verbosity(verbosity);
      if (options == nullptr) return;
      options->quiet = options->verbose = std::nullopt;  // the last one typed counts
      options->*member = true;
    };
  };
  spec.add({.names = "-q, --quiet",
            .manual = "Print errors and warnings only.",
            .set = sets(Verbosity::quiet, &ServerOptions::quiet)});
  spec.add(
      {.names = "-v, --verbose",
       .manual =
           "Also print what happens inside, with the time since the start. rlock prints each acquire and release, "
           "the first renewal, and each renewal after a failure. It also prints redirections, failovers and broken "
           "connections, when a call meets them.",
       .set = sets(Verbosity::verbose, &ServerOptions::verbose)});
}

void declare_verbosity(VerbSpec& spec, Option quiet, Option verbose) {
  quiet.names = "-q, --quiet";
  quiet.set = [](std::string_view) { set_verbosity(Verbosity::quiet); };
  verbose.names = "-v, --verbose";
  verbose.set = [](std::string_view) { set_verbosity(Verbosity::verbose); };
  spec.add(std::move(quiet));
  spec.add(std::move(verbose));
}

void declare_verbosity_elsewhere(VerbSpec& spec) {
  spec.group("Options of every verb");
  spec.groups.back().elsewhere = true;
  declare_verbosity(spec);
}

}  // namespace rlock
