#include "base/environment.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

namespace rlock {

std::optional<std::string> environment_variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::string home_folder() {
  if (auto home = environment_variable("HOME"); home && home->starts_with('/')) return *std::move(home);
  const passwd* user = ::getpwuid(::geteuid());
  return user != nullptr && user->pw_dir != nullptr && *user->pw_dir == '/' ? user->pw_dir : "";
}

}  // namespace rlock
