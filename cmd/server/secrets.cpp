// Passwords stand in our environment and in argv, which ps shows to all users. keep_passwords() runs before
// anything can print them. It passes each password to base/redaction, which hides it in all texts, and
// overwrites it in argv.
//
// It must find a password even in a wrong URL, because then an error message will repeat the URL. So it does
// not parse URLs, but takes the text before the last '@'.

#include "cmd/server/secrets.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/environment.h"
#include "base/error.h"
#include "base/redaction.h"
#include "base/text.h"
#include "cmd/cli/terminal.h"

namespace rlock {
namespace {

/// A part of a word that may be a password.
struct Suspect {
  std::size_t begin = 0;
  std::size_t size = 0;
  bool is_name = false;  ///< it stands where a URL has the user, but may be a password
};

/// The position of user and password in a word like a URL: behind "://", or behind "redis:" or "redis:/" if
/// the scheme was mistyped.
std::size_t end_of_scheme(std::string_view word) {
  constexpr std::string_view kMark = "://";
  if (const std::size_t mark = word.find(kMark); mark != word.npos) return mark + kMark.size();
  const std::size_t scheme = std::min({word.find("redis"), word.find("valkey"), word.find("unix")});
  const std::size_t colon = word.find(':', scheme);
  return scheme != word.npos && colon != word.npos ? word.find_first_not_of('/', colon + 1) : word.npos;
}

/// The last '@' ends the password. A literal '/' in the password makes the URL invalid, but rlock hides all of the
/// password nevertheless.
std::optional<Suspect> password_in(std::string_view word) {
  const std::size_t begin = end_of_scheme(word);
  const std::size_t end = word.rfind('@');
  if (begin == word.npos || end == word.npos || end < begin) return std::nullopt;
  const std::size_t colon = word.find(':', begin);
  if (colon < end) return Suspect{.begin = colon + 1, .size = end - colon - 1};
  return Suspect{.begin = begin, .size = end - begin, .is_name = word.find("://") != word.npos};
}

void keep_password_in(std::string_view word) {
  const auto password = password_in(word);
  // A user name is not hidden in other texts, because keys and hosts may have the same name.
  if (password && !password->is_name) keep_secret(word.substr(password->begin, password->size));
}

}  // namespace

void keep_passwords(int argc, char** argv) {
  for (const char* name : kPasswordVariables)
    if (const auto password = environment_variable(name)) keep_secret(*password);
  for (const char* name : {"RLOCK_URL", "REDIS_URL"})
    for (const std::string& url : split(environment_variable(name).value_or(""), ' ')) keep_password_in(url);
  for (int i = 1; i < argc; ++i) {
    keep_password_in(argv[i]);
    if (const auto password = password_in(argv[i]))
      std::fill_n(argv[i] + password->begin, password->size, '*');
  }
}

std::string ask_password(const std::string& option, Error::Kind kind) {
  std::string password = ask_secretly(
      "Password: ", Error{kind, option + ": there is no terminal to ask on; use --password-file"});
  if (password.empty()) throw Error{Error::usage, option + ": no password was typed"};
  return password;
}

}  // namespace rlock
