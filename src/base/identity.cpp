#include "base/identity.h"

#include <pwd.h>
#include <unistd.h>

#include <array>

#include "base/environment.h"

namespace rlock {
namespace {

std::string look_up_user() {
  // These come first because the password database takes longer than a round trip to the server.
  for (const char* variable : {"LOGNAME", "USER"})
    if (auto name = environment_variable(variable)) return *std::move(name);
  if (::geteuid() == 0) return "root";
  const passwd* entry = ::getpwuid(::geteuid());
  return entry != nullptr ? entry->pw_name : "?";
}

std::string look_up_host() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name.front() == '\0') return "?";
  return name.data();
}

}  // namespace

const std::string& user_name() {
  static const std::string name = look_up_user();
  return name;
}

const std::string& host_name() {
  static const std::string name = look_up_host();
  return name;
}

std::string user_at_host() { return user_name() + "@" + host_name(); }

std::string client_name() {
  std::string name = "rlock:" + user_at_host() + ":" + std::to_string(::getpid());
  for (char& c : name) {
    if (c <= ' ' || c > '~') c = '_';
  }
  return name;
}

}  // namespace rlock
