// The table of the server settings, and what can be done with any of them. A new setting is a member of ServerOptions
// and a row here; cmd/server/deployment.cpp uses it.

#include "cmd/server/server_setting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "redis/connection/target.h"

namespace rlock {
namespace {

using Where = ServerSetting::Where;

constexpr std::array kSettings{
    ServerSetting{
        .option = "-u, --url URL",
        .member = &ServerOptions::urls,
        .manual =
            "URLS lists the schemes. Several --url name independent servers, of which a majority must grant the lock.",
        .help = "use the server at URL instead of RLOCK_URL",
        .variable = "RLOCK_URL",
        .listed = false},
    ServerSetting{
        .option = "--password-file F",
        .member = &ServerOptions::password_file,
        .manual =
            "Read the password from file F at each connection. rlock leaves out the end of its line (LF or CR LF). "
            "If F is a pipe, rlock reads it once. It waits for the end of the pipe for at most 60s, or for DUR of --wait "
            "if that is shorter, and then exits with status 78. "
            "Without the option, the variables RLOCK_PASSWORD_FILE and RLOCK_PASSWORD count.",
        .offer = Offer::file,
        .variable = "RLOCK_PASSWORD_FILE",
        .listed = false},
    ServerSetting{
        .option = "--askpass",
        .member = &ServerOptions::askpass,
        .manual =
            "Ask for the password on the terminal. It waits for your answer, also beyond DUR of --wait.",
        .listed = false},
    ServerSetting{.option = "--user NAME",
                  .member = &ServerOptions::user,
                  .manual = "Authenticate as this ACL user, also if the URL names another one."},
    ServerSetting{.option = "--db N",
                  .member = &ServerOptions::db,
                  .manual = "Select database N, from 0 to 1000000, also if the URL names another one."},
    ServerSetting{
        .option = "--prefix STR",
        .member = &ServerOptions::prefix,
        .manual =
            "Put STR before every KEY, as a NameMapper of Redisson does; the names of channels contain it, too. "
            "Messages and lists show keys without it. Without the option, the variable RLOCK_PREFIX counts.",
        .variable = "RLOCK_PREFIX",
        .may_be_empty = true},
    ServerSetting{
        .option = "--config FILE",
        .member = &ServerOptions::config,
        .manual = "Read this configuration file and no other. Without it, the variable RLOCK_CONFIG counts.",
        .offer = Offer::file,
        .variable = "RLOCK_CONFIG",
        .where = Where::command_line,
        .listed = false},
    ServerSetting{
        .option = "--profile NAME",
        .member = &ServerOptions::profile,
        .manual =
            "Also use the section [NAME] of the configuration files. Without it, the variable RLOCK_PROFILE counts.",
        .offer = Offer::profile,
        .variable = "RLOCK_PROFILE",
        .where = Where::command_line,
        .listed = false},
    ServerSetting{
        .option = "--tls", .member = &ServerOptions::tls, .manual = "Use TLS, as the scheme rediss: does."},
    ServerSetting{
        .option = "--cacert F",
        .member = &ServerOptions::cacert,
        .manual =
            "Trust the certificate authorities in file F instead of the system's. F, and the files of --cert and --tls-key, must be "
            "regular files.",
        .offer = Offer::file},
    ServerSetting{.option = "--cacertdir D",
                  .member = &ServerOptions::cacertdir,
                  .manual = "Trust the certificate authorities in folder D instead of the system's.",
                  .offer = Offer::folder},
    ServerSetting{.option = "--cert F",
                  .member = &ServerOptions::cert,
                  .manual = "Send the client certificate in file F to the server. It needs --tls-key.",
                  .offer = Offer::file},
    ServerSetting{.option = "--tls-key F",
                  .member = &ServerOptions::tls_key,
                  .manual = "Use the private key in file F for --cert. The key must not have a passphrase.",
                  .offer = Offer::file},
    ServerSetting{
        .option = "--sni H",
        .member = &ServerOptions::sni,
        .manual = "Expect the name H in the certificate of the server, instead of the host name in the URL."},
    ServerSetting{
        .option = "--insecure",
        .member = &ServerOptions::insecure,
        .manual =
            "Do not check the certificate of the server: encrypt only. rlock.conf(5) has no such setting.",
        // A file outlives the reason for it, and users would forget that servers are not checked.
        .where = Where::command_line},
    ServerSetting{
        .option = "--connect-timeout DUR",
        .member = &ServerOptions::connect_timeout,
        .manual = "Give one attempt to connect at most DUR: for name lookup, connection, TLS and greeting.",
        .standard = "2s"},
    ServerSetting{
        .option = "--command-timeout DUR",
        .member = &ServerOptions::command_timeout,
        .manual =
            "Wait at most DUR for the reply to one request. With more than 30s, a sem release or a latch "
            "down whose reply was lost may count twice.",
        .standard = "2s"},
    ServerSetting{.option = "--history",
                  .member = &ServerOptions::history,
                  .standard = "yes",
                  .variable = "RLOCK_HISTORY",
                  .where = Where::files},
    // declare_verbosity() declares these two options, because verbs without a server have them, too.
    ServerSetting{
        .option = "--quiet", .member = &ServerOptions::quiet, .standard = "no", .where = Where::files},
    ServerSetting{
        .option = "--verbose", .member = &ServerOptions::verbose, .standard = "no", .where = Where::files}};

/// Parses a value, by the type of the member that it is for.
struct Parse {
  const ServerSetting& setting;
  std::string_view text;

  void operator()(std::vector<std::string>& urls) const {
    static_cast<void>(parse_target(text));  // parsed here, so that the message names the option or the line
    urls.emplace_back(text);
  }
  void operator()(std::optional<std::string>& member) const {
    const bool names_file = setting.offer == Offer::file || setting.offer == Offer::folder;
    if (text.empty() && (names_file || setting.offer == Offer::profile))
      throw Error{Error::usage, fmt::format("expected the name of a {}", names_file ? "file" : "profile")};
    member = std::string{text};
  }
  void operator()(std::optional<std::int64_t>& member) const { number_between(member, 0, 1'000'000)(text); }
  void operator()(std::optional<Milliseconds>& member) const { into(member)(text); }
  void operator()(std::optional<bool>& member) const { member = text != "no"; }
};

struct Show {
  using Shown = std::optional<std::string>;

  Shown operator()(const std::vector<std::string>&) const { return std::nullopt; }
  Shown operator()(const std::optional<std::string>& member) const { return member; }
  Shown operator()(const std::optional<std::int64_t>& member) const {
    return member ? Shown{std::to_string(*member)} : std::nullopt;
  }
  Shown operator()(const std::optional<Milliseconds>& member) const {
    return member ? Shown{exact(*member)} : std::nullopt;
  }
  Shown operator()(const std::optional<bool>& member) const {
    return member ? Shown{*member ? "yes" : "no"} : std::nullopt;
  }
};

/// Splits RLOCK_URL, which may have several URLs. A URL from a mounted secret or a YAML block often ends with
/// a newline.
std::vector<std::string> words_of(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  std::vector<std::string> words = split(text, ' ');
  std::erase(words, "");
  return words;
}

}  // namespace

std::span<const ServerSetting> server_settings() { return kSettings; }

const ServerSetting* find_server_setting(std::string_view name) {
  const auto found = std::ranges::find(kSettings, name, &ServerSetting::name);
  return found != kSettings.end() ? &*found : nullptr;
}

const ServerSetting& server_setting(std::string_view name) {
  const ServerSetting* found = find_server_setting(name);
  if (found == nullptr) throw Error{Error::internal, fmt::format("no setting has the name {}", name)};
  return *found;
}

void ServerSetting::set(ServerOptions& options, std::string_view text) const {
  std::visit([&](auto place) { Parse{*this, text}(options.*place); }, member);
}

void ServerSetting::set_in_words(ServerOptions& options, std::string_view text) const {
  set(options, value().empty() ? switch_value(text) : text);
}

void ServerSetting::set_from_variable(ServerOptions& options, const std::string& text) const {
  if (const auto* list = std::get_if<List>(&member)) {
    options.*(*list) = words_of(text);  // parsed only if they count: an option may overrule them
    return;
  }
  try {
    set_in_words(options, text);
  } catch (const Error& error) {  // adds the name of the variable
    throw Error{error.kind(), fmt::format("{}: {}", variable, error.what())};
  }
}

void ServerSetting::fill(ServerOptions& options, const ServerOptions& other) const {
  const auto fill_in = [](auto& mine, const auto& others) {
    if (mine == std::remove_cvref_t<decltype(mine)>{}) mine = others;
  };
  std::visit([&](auto place) { fill_in(options.*place, other.*place); }, member);
}

bool ServerSetting::is_set(const ServerOptions& options) const {
  const auto set = [](const auto& mine) { return mine != std::remove_cvref_t<decltype(mine)>{}; };
  return std::visit([&](auto place) { return set(options.*place); }, member);
}

std::optional<std::string> ServerSetting::shown(const ServerOptions& options) const {
  return std::visit([&](auto place) { return Show{}(options.*place); }, member);
}

void declare_settings(VerbSpec& spec, ServerOptions& options) {
  for (const ServerSetting& setting : server_settings()) {
    if (setting.where == Where::files) continue;
    spec.add({.names = setting.names(),
              .value = setting.value(),
              .help = setting.help,
              .standard = setting.standard,
              .manual = setting.manual,
              .offer = setting.offer,
              .set = [&options, &setting](std::string_view value) { setting.set(options, value); }});
  }
}

std::string_view switch_value(std::string_view text) {
  if (text == "yes" || text == "true" || text == "on" || text == "1") return "";
  if (text == "no" || text == "false" || text == "off" || text == "0") return "no";
  throw Error{Error::config, "expected yes or no"};
}

}  // namespace rlock
