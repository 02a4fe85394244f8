// The folder of the private server must be ours. Nobody but root may be able to replace it, or a folder above it:
// another user could put a server there that grants every lock. Descent walks down from `/`, and checks each folder
// by its descriptor, because a path can lead elsewhere after its check. It follows symbolic links itself, because
// their targets must be checked, too.

#include "redis/route/local_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/error.h"
#include "base/text.h"

namespace rlock {
namespace {

/// The kernel, too, follows at most this many symbolic links in one path.
constexpr int kMostLinks = 40;

constexpr std::string_view kElsewhere = "set XDG_STATE_HOME to a place of your own";

[[noreturn]] void refuse(const std::string& path, std::string_view why) {
  throw Error{Error::config, fmt::format("local: {} {}", in_quotes(path), why)};
}

std::string state_home() {
  if (auto path = environment_variable("XDG_STATE_HOME"); path && path->starts_with('/'))
    return *std::move(path);
  const std::string home = home_folder();
  if (home.empty())
    throw Error{Error::config, "local: needs a place for its server: set HOME or XDG_STATE_HOME"};
  return home + "/.local/state";
}

bool is_trusted(uid_t owner) { return owner == ::geteuid() || owner == 0; }

/// Is it the private group that Debian and Ubuntu make for each user, with the user's name and no other members? On
/// these systems `mkdir` makes folders that this group may write to.
bool is_private(gid_t number) {
  const passwd* user = ::getpwuid(::geteuid());
  if (user == nullptr || user->pw_gid != number) return false;
  const std::string name = user->pw_name;
  const group* entry = ::getgrgid(number);
  if (entry == nullptr || entry->gr_name != name) return false;
  for (char** member = entry->gr_mem; *member != nullptr; ++member)
    if (*member != name) return false;
  return true;
}

bool others_can_exchange_in(const struct stat& folder) {
  if ((folder.st_mode & S_ISVTX) != 0) return false;  // sticky: other users can replace only their own files
  if ((folder.st_mode & S_IWOTH) != 0) return true;
  return (folder.st_mode & S_IWGRP) != 0 && !is_private(folder.st_gid);
}

void check_above(const struct stat& folder, const std::string& path) {
  if (!is_trusted(folder.st_uid))
    refuse(path, fmt::format("belongs to another user, who could replace its files; {}", kElsewhere));
  if (others_can_exchange_in(folder))
    refuse(path, fmt::format("is writable for other users, who could replace its files; chmod go-w {}",
                             shell_quoted(path)));
}

void check_own(const struct stat& folder, const std::string& path) {
  if (folder.st_uid != ::geteuid()) refuse(path, fmt::format("belongs to another user; {}", kElsewhere));
  if ((folder.st_mode & 077) != 0)
    refuse(path, fmt::format("can be entered by others; chmod 700 {}", shell_quoted(path)));
}

/// Walks down an absolute path. Each folder is opened relative to the one above and checked by its
/// descriptor. After the check only root and we could replace it.
class Descent {
 public:
  Descent(const std::string& path, bool make) : make_(make) {
    go_first(path);
    enter_root();
  }

  /// Returns false if some part of the path does not exist.
  bool to_the_end() {
    while (!rest_.empty()) {
      const std::string name = rest_.back();
      rest_.pop_back();
      if (name.empty() || name == ".") continue;
      if (!enter(name)) return false;
    }
    return true;
  }

  Descriptor take() { return std::move(here_); }

 private:
  void enter_root() {
    here_.reset(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    path_.clear();
    check("/");
  }

  /// Puts `path` before the rest of the way.
  void go_first(const std::string& path) {
    std::vector<std::string> names = split(path, '/');
    rest_.insert(rest_.end(), names.rbegin(), names.rend());
  }

  bool enter(const std::string& name) {
    const std::string path = path_ + "/" + name;
    Descriptor next = open(name);
    if (!next && errno == ENOENT && make_) {
      if (::mkdirat(here_.number(), name.c_str(), 0700) != 0 && errno != EEXIST)
        refuse(path, fmt::format("cannot be created: {}; {}", std::strerror(errno), kElsewhere));
      next = open(name);
    }
    if (!next && errno == ENOENT) return false;
    if (!next && (errno == ENOTDIR || errno == ELOOP)) {  // for a link, open(2) gives one error or the other
      follow(name, path);
      return true;
    }
    if (!next) refuse(path, fmt::format("cannot be entered: {}; {}", std::strerror(errno), kElsewhere));
    here_ = std::move(next);
    path_ = path;
    check(path);
    return true;
  }

  /// O_DIRECTORY makes the kernel mount a folder that is mounted on demand.
  Descriptor open(const std::string& name) const {
    return Descriptor{::openat(here_.number(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  }

  void check(const std::string& path) const {
    struct stat facts{};
    if (!here_ || ::fstat(here_.number(), &facts) != 0) refuse(path, std::strerror(errno));
    rest_.empty() ? check_own(facts, path) : check_above(facts, path);
  }

  void follow(const std::string& name, const std::string& path) {
    const Descriptor link{::openat(here_.number(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
    struct stat facts{};
    if (!link || ::fstat(link.number(), &facts) != 0) refuse(path, std::strerror(errno));
    const bool own = rest_.empty();
    if (!S_ISLNK(facts.st_mode))
      refuse(path, own ? "is no folder" : "is neither a folder nor a symbolic link to one");
    if (own) refuse(path, "is a symbolic link; rlock needs a folder there");
    if (!is_trusted(facts.st_uid)) refuse(path, "is a symbolic link of another user");
    if (++links_ > kMostLinks) refuse(path, std::strerror(ELOOP));
    char target[PATH_MAX];
    const ssize_t size = ::readlinkat(link.number(), "", target, sizeof target);
    if (size <= 0) refuse(path, std::strerror(errno));
    const std::string leads_to{target, static_cast<std::size_t>(size)};
    if (leads_to.starts_with('/')) enter_root();
    go_first(leads_to);
  }

  bool make_;
  Descriptor here_;
  std::string path_;               ///< the path of `here_`, for messages
  std::vector<std::string> rest_;  ///< the names that are left; the next one is last
  int links_ = 0;
};

Descriptor descend(const std::string& path, bool make) {
  Descent descent{path, make};
  return descent.to_the_end() ? descent.take() : Descriptor{};
}

}  // namespace

LocalDirectory::LocalDirectory() : path_(state_home() + "/rlock") {
  constexpr std::size_t kLongestPath = sizeof(sockaddr_un::sun_path) - 1;
  if (socket().size() <= kLongestPath) return;
  refuse(socket(),
         fmt::format(
             "is {} bytes long, a Unix socket's path has at most {}; set XDG_STATE_HOME to a shorter path",
             socket().size(), kLongestPath));
}

Descriptor LocalDirectory::open() const { return descend(path_, /*make=*/false); }

Descriptor LocalDirectory::create() const { return descend(path_, /*make=*/true); }

}  // namespace rlock
