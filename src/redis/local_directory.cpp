#include "redis/local_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/text.h"

namespace rlock {
namespace {

[[noreturn]] void refuse(const std::string& path, std::string_view why) {
  throw Error{Error::config, fmt::format("local: {} {}", in_quotes(path), why)};
}

/// An absolute path, or nothing: a relative one would mean another place in every directory.
std::string path_from(const char* variable) {
  const char* value = ::secure_getenv(variable);
  return value != nullptr && *value == '/' ? value : "";
}

std::string home() {
  if (std::string path = path_from("HOME"); !path.empty()) return path;
  const passwd* entry = ::getpwuid(::geteuid());
  if (entry == nullptr || *entry->pw_dir != '/') {
    throw Error{Error::config, "local: needs a place for its server: set HOME or XDG_STATE_HOME"};
  }
  return entry->pw_dir;
}

std::string state_home() {
  if (std::string path = path_from("XDG_STATE_HOME"); !path.empty()) return path;
  return home() + "/.local/state";
}

/// Throws unless we own the folder and nobody else may enter it, or put another one in its place.
void check(int fd, const std::string& path) {
  struct stat facts{}, parent{};
  if (::fstat(fd, &facts) != 0 || ::fstatat(fd, "..", &parent, 0) != 0) refuse(path, std::strerror(errno));
  if (facts.st_uid != ::geteuid())
    refuse(path, "belongs to somebody else; set XDG_STATE_HOME to a place of your own");
  if ((facts.st_mode & 077) != 0)
    refuse(path, fmt::format("can be entered by others; chmod 700 {}", in_quotes(path)));
  if ((parent.st_mode & S_IWOTH) != 0 && (parent.st_mode & S_ISVTX) == 0) {
    refuse(path, "is in a folder where everybody may exchange it; set XDG_STATE_HOME to another place");
  }
}

}  // namespace

LocalDirectory::LocalDirectory() : path_(state_home() + "/rlock") {
  constexpr std::size_t kLongest = sizeof(sockaddr_un::sun_path) - 1;
  if (socket().size() <= kLongest) return;
  refuse(socket(),
         fmt::format(
             "is {} bytes long, a Unix socket's path has at most {}; set XDG_STATE_HOME to a shorter path",
             socket().size(), kLongest));
}

Descriptor LocalDirectory::open() const {
  Descriptor directory{::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (directory) {
    check(directory.number(), path_);
  } else if (errno != ENOENT) {
    const bool link = errno == ENOTDIR || errno == ELOOP;  // the one or the other, says open(2)
    refuse(path_, link ? "is not a folder, or a symbolic link to one" : std::strerror(errno));
  }
  return directory;
}

Descriptor LocalDirectory::create() const {
  int why = 0;
  for (std::size_t end = 0; end != path_.npos;) {
    end = path_.find('/', end + 1);
    why = ::mkdir(path_.substr(0, end).c_str(), 0700) == 0 ? 0 : errno;  // those above mostly exist
  }
  Descriptor directory = open();
  if (!directory) refuse(path_, fmt::format("cannot be made: {}", std::strerror(why)));
  return directory;
}

}  // namespace rlock
