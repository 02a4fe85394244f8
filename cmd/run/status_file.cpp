#include "cmd/run/status_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "base/write_all.h"
#include "process/std_descriptors.h"

namespace rlock {
namespace {

[[noreturn]] void refuse(const std::string& path, std::string_view why) {
  throw Error{Error::system, fmt::format("--status-file {}: {}", in_quotes(path), why)};
}

/// The descriptor that the text of a path names. The number must be its end:
/// "/proc/self/fd/../../../etc/passwd" begins like the name of a descriptor.
std::optional<int> descriptor_named(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const auto number = parse_count(path.substr(folder.size()));
    if (number && *number <= INT_MAX) return static_cast<int>(*number);
  }
  return std::nullopt;
}

/// The descriptor to which a link such as /dev/stdout leads. Links of other users are not followed: they
/// could make us write into any file that our caller has open.
std::optional<int> descriptor_linked(const std::string& path) {
  const Descriptor link{::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
  struct stat facts{};
  if (!link || ::fstat(link.number(), &facts) != 0 || !S_ISLNK(facts.st_mode)) return std::nullopt;
  if (facts.st_uid != ::geteuid() && facts.st_uid != 0) return std::nullopt;
  char target[PATH_MAX];
  const ssize_t size = ::readlinkat(link.number(), "", target, sizeof target);
  return descriptor_named({target, static_cast<std::size_t>(std::max<ssize_t>(size, 0))});
}

Descriptor duplicate(int fd, const std::string& path) {
  if (is_placeholder(fd)) refuse(path, std::strerror(EBADF));
  Descriptor copy{::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
  if (!copy) refuse(path, std::strerror(errno));
  if ((::fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY) refuse(path, "not open for writing");
  keep_from_command(fd);
  keep_from_command(copy.number());
  return copy;
}

Descriptor open_device(const std::string& path) {
  // Another file may be there since lstat(): links are not followed, and a pipe does not block us.
  Descriptor device{
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (!device) refuse(path, std::strerror(errno));
  struct stat facts{};
  if (::fstat(device.number(), &facts) != 0) refuse(path, std::strerror(errno));
  if (!S_ISCHR(facts.st_mode)) refuse(path, "is not the device that it was a moment ago");
  return device;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

bool replaces(const std::string& path, const std::string& other) {
  struct stat there{};
  if (descriptor_named(path) || descriptor_linked(path)) return false;
  if (::lstat(path.c_str(), &there) == 0 && S_ISCHR(there.st_mode)) return false;
  char real[PATH_MAX];
  const std::string file = ::realpath(other.c_str(), real) != nullptr ? real : other;
  struct stat ours{};
  struct stat theirs{};
  return base_name(path) == base_name(file) && ::stat(folder_of(path).c_str(), &ours) == 0 &&
         ::stat(folder_of(file).c_str(), &theirs) == 0 && ours.st_dev == theirs.st_dev &&
         ours.st_ino == theirs.st_ino;
}

StatusFile::StatusFile(std::string path) : path_(std::move(path)) {
  auto fd = descriptor_named(path_);
  if (!fd) fd = descriptor_linked(path_);
  if (fd) {
    sink_ = duplicate(*fd, path_);
    return;
  }
  struct stat there{};
  const mode_t mode = ::lstat(path_.c_str(), &there) == 0 ? there.st_mode : 0;
  if (S_ISCHR(mode)) {
    sink_ = open_device(path_);
    return;
  }
  // If we replaced a pipe or a socket by a file, its reader would wait for ever.
  if (S_ISFIFO(mode) || S_ISSOCK(mode) || S_ISBLK(mode))
    refuse(path_, "neither a file nor a character device; see --status-fd");
  // An old report must not be taken for ours, even if we are killed before we write one.
  if (::unlink(path_.c_str()) != 0 && errno != ENOENT) refuse(path_, std::strerror(errno));
  const std::string folder = folder_of(path_);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) refuse(path_, std::strerror(errno));
  // Chosen now, because write() could not report a lack of memory or of random numbers.
  aside_ = fmt::format("{}/.rlock-status-{}", folder, to_hex(random_bytes(16)));
}

int StatusFile::write(std::string_view report) const noexcept {
  return sink_ ? write_all(sink_.number(), report, within(kStatusPatience)) : replace(report);
}

/// Writes a temporary file and renames it: a reader sees a whole report or none.
int StatusFile::replace(std::string_view report) const noexcept {
  const int fd = ::open(aside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  int failed = write_all(fd, report, within(kStatusPatience));
  if (::close(fd) != 0 && failed == 0) failed = errno;
  if (failed == 0 && ::rename(aside_.c_str(), path_.c_str()) != 0) failed = errno;
  if (failed != 0) ::unlink(aside_.c_str());
  return failed;
}

}  // namespace rlock
