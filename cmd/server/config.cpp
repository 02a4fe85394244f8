// Reads one config file into ServerOptions. read_file() opens it and refuses a file that other users could
// change; Reader parses the lines. The values go through the setters of the settings and options with these names. So
// a value means the same in a file and on the command line.
//
// A file that names a server decides who holds a lock and which server gets the password. So the parser is
// strict: an unknown line is an error, because a skipped setting could mean another server.

#include "cmd/server/config.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/as_given.h"
#include "base/ascii.h"
#include "base/descriptor.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/text.h"
#include "cmd/cli/suggest.h"
#include "cmd/server/configurable_options.h"

namespace rlock {
namespace {

constexpr std::size_t kLargestFile = 64 * 1024;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  const std::string variable = as_given("config", "");
  throw Error{Error::config, fmt::format("config file {}{}: {}", in_quotes(path),
                                         variable.empty() ? "" : fmt::format(" ({})", variable), why)};
}

struct File {
  std::string text;
  bool private_to_owner = false;
};

/// Is it /dev/null? As a config file it means: no settings.
bool is_null_device(const struct stat& facts) {
  struct stat null{};
  return S_ISCHR(facts.st_mode) && ::stat("/dev/null", &null) == 0 && facts.st_rdev == null.st_rdev;
}

/// Refuses a file of another user, or one that others can write to: those users could choose our server, and
/// get our password. A group counts as other users, even if it has one member today.
void refuse_other_users_file(const std::string& path, const struct stat& facts) {
  if (facts.st_uid != ::geteuid() && facts.st_uid != 0)
    refuse(path, ::geteuid() == 0 ? "belongs to another user; it must be root's"
                                  : "belongs to another user; it must be yours or root's");
  if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    refuse(path, fmt::format("others can write to it; chmod go-w {}", shell_quoted(path)));
}

/// Opens the file without waiting for a writer, because a FIFO must not block us.
File read_file(const std::string& path) {
  const Descriptor opened{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (!opened) refuse(path, std::strerror(errno));
  struct stat facts{};
  if (::fstat(opened.number(), &facts) != 0) refuse(path, std::strerror(errno));
  // Asks about the descriptor, because the name may lead to another file by now.
  const bool nothing = is_null_device(facts);
  if (!S_ISREG(facts.st_mode) && !nothing) refuse(path, "not a regular file");
  if (!nothing) refuse_other_users_file(path, facts);
  File file{.text = std::string(kLargestFile + 1, '\0'), .private_to_owner = (facts.st_mode & 077) == 0};
  std::size_t size = 0;
  while (size < file.text.size()) {
    const ssize_t got = ::read(opened.number(), file.text.data() + size, file.text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path, std::strerror(errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > kLargestFile) refuse(path, fmt::format("larger than {} KiB", kLargestFile / 1024));
  file.text.resize(size);
  return file;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// Does the URL contain "user:password@"?
bool has_password(std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::size_t at = url.rfind('@');
  if (scheme == std::string_view::npos || at == std::string_view::npos) return false;
  return url.substr(scheme + 3, at - scheme - 3).find(':') != std::string_view::npos;
}

/// Parses the settings of one file, line by line.
class Reader {
 public:
  Reader(const std::string& path, const File& file, ServerOptions& options, Profile& profile)
      : path_(path), file_(file), profile_(profile), said_(&options) {}

  void line(std::string_view text) {
    ++number_;
    if (text.ends_with('\r')) text.remove_suffix(1);
    text = trimmed(text);
    // The file names servers. So bytes are refused that a terminal or an editor may show differently from how rlock
    // reads them. If CR alone ended the lines, a comment would go on to the end of the file.
    const bool is_comment = text.starts_with('#');
    if (text.find('\r') != text.npos || (!is_comment && !is_harmless(text)))
      fail("control characters or bytes that are no UTF-8");
    if (text.empty() || is_comment) return;
    if (text.starts_with('[')) return section(text);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) fail("expected name = value");
    setting(trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1)));
  }

 private:
  /// "[staging]": the lines up to the next section belong to this profile.
  void section(std::string_view line) {
    constexpr std::string_view kMarks = "-_.";
    const std::string name{line.ends_with(']') ? line.substr(1, line.size() - 2) : ""};
    const auto may_stand = [&](char c) { return is_letter_or_digit(c) || kMarks.find(c) != kMarks.npos; };
    if (name.empty() || !std::ranges::all_of(name, may_stand))
      fail("expected [NAME], of letters, digits, '-', '_' and '.'");
    if (std::ranges::count(profile_.known, name)) fail(fmt::format("[{}] appears twice", name));
    profile_.known.push_back(name);
    section_ = name;
    const bool applies = name == profile_.name;
    profile_.found = profile_.found || applies;
    seen_.clear();
    unused_ = {};
    said_ = applies ? &profile_.options : &unused_;
  }

  void setting(std::string_view name, std::string_view value) {
    const ServerSetting* const server = setting_named(name);
    const Option* const option = server == nullptr ? &option_named(name) : nullptr;
    const bool is_list = server != nullptr && server->is_list();
    if (!is_list && std::ranges::count(seen_, name)) fail(fmt::format("{} appears twice", name));
    seen_.emplace_back(name);
    const bool quoted =
        value.size() > 1 && value.front() == value.back() && (value.front() == '"' || value.front() == '\'');
    if (quoted) fail(fmt::format("{}: write the value without quotes; they would be part of it", name));
    if (value.empty() && !(server != nullptr && server->may_be_empty))
      fail(fmt::format("{} has no value", name));
    // The text from '#' on could be a comment or part of a password, so the user must decide.
    if (value.starts_with('#') || value.find(" #") != std::string_view::npos)
      fail(fmt::format("{}: a comment needs a line of its own", name));
    if (is_list && has_password(value) && !file_.private_to_owner)
      fail("a password in a file that others can read; chmod 600 it, or use password-file");
    const Offer offer = server != nullptr ? server->offer : option->offer;
    const bool names_file = offer == Offer::file || offer == Offer::folder;
    if (names_file && !value.starts_with('/'))
      fail(fmt::format("{}: expected an absolute path: another one depends on where rlock starts", name));
    try {
      if (server != nullptr) return server->set_in_words(*said_, value);
      said_->defaults.push_back({std::string{name}, std::string{value}, place(), number_});
      option->set(option->value.empty() ? switch_value(value) : value);
    } catch (const Error& error) {  // adds the file and the line
      fail(fmt::format("{}: {}", name, error.what()));
    }
  }

  /// The source of a setting, as rlock config prints it.
  std::string place() const {
    const std::string path = sanitized(path_);
    return section_.empty() ? path : fmt::format("[{}] in {}", section_, path);
  }

  /// The setting of the server with this name. Null: there is none, or it is for the command line only.
  static const ServerSetting* setting_named(std::string_view name) {
    const ServerSetting* const found = find_server_setting(name);
    return found != nullptr && found->where != ServerSetting::Where::command_line ? found : nullptr;
  }

  const Option& option_named(std::string_view name) {
    if (const Option* other = configurable_.find(name)) return *other;
    if (configurable_.exists(name)) fail(fmt::format("{} is for the command line only", name));
    std::vector<std::string_view> names;
    for (const ServerSetting& setting : server_settings())
      if (setting.where != ServerSetting::Where::command_line) names.push_back(setting.name());
    for (const Option* other : configurable_.all()) names.push_back(long_names(*other).front());
    const auto meant =
        nearest(name, names);  // a name without a near match may be part of a password: do not repeat it
    fail(meant ? fmt::format("unknown name {}; did you mean {}?", in_quotes(name), *meant)
               : fmt::format("unknown name; known are {}", fmt::join(names, ", ")));
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error{Error::config, fmt::format("config file {} line {}: {}", in_quotes(path_), number_, why)};
  }

  const std::string& path_;
  const File& file_;
  Profile& profile_;
  ServerOptions unused_;              ///< the options of other profiles
  ServerOptions* said_;               ///< the options that the current lines set
  std::string section_;               ///< the current section
  ConfigurableOptions configurable_;  ///< the options of the verbs
  std::vector<std::string> seen_;
  int number_ = 0;
};

/// Is there no such file? If it cannot be looked for, read_config() refuses it: a file that is skipped silently could
/// mean another server.
bool is_absent(const std::string& path) {
  return ::access(path.c_str(), F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

std::string config_home() {
  // The XDG specification says that a relative one is ignored.
  if (auto xdg = environment_variable("XDG_CONFIG_HOME"); xdg && xdg->starts_with('/'))
    return *std::move(xdg);
  const std::string home = home_folder();
  return home.empty() ? "" : home + "/.config";
}

}  // namespace

void read_config(const std::string& path, ServerOptions& options, Profile& profile) {
  const File file = read_file(path);
  Reader reader{path, file, options, profile};
  std::string_view text = file.text;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    reader.line(text.substr(0, newline));
    if (newline == std::string_view::npos) return;
    text.remove_prefix(newline + 1);
  }
}

std::vector<std::string> standard_configs() {
  std::vector<std::string> candidates;
  const std::string own = config_home();
  // If we may not enter the folder, it is that of another user, for example in a container that keeps HOME.
  if (!own.empty() && ::access(own.c_str(), X_OK) == 0) candidates.push_back(own + "/rlock/config");
  candidates.emplace_back("/etc/rlock/config");
  std::erase_if(candidates, is_absent);
  return candidates;
}

}  // namespace rlock
