#include "cmd/status.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/exit_code.h"
#include "cmd/output.h"

namespace rlock {
namespace {

/// Set once, by `run`: a failure may reach main from anywhere, when nothing else of the run is left.
struct Destination {
  std::optional<std::int64_t> fd;
  std::string file;
  Descriptor sink;  ///< `file`, where it must not be replaced
  RunReport report;
  bool written = true;
} destination;

std::string_view name_of(RunReport::Outcome outcome) {
  switch (outcome) {
    case RunReport::Outcome::ran: return "ran";
    case RunReport::Outcome::busy: return "busy";
    case RunReport::Outcome::unreachable: return "unreachable";
    case RunReport::Outcome::lost: return "lost";
    case RunReport::Outcome::max_hold: return "max-hold";
    case RunReport::Outcome::not_started: return "not-started";
    case RunReport::Outcome::interrupted: return "interrupted";
    case RunReport::Outcome::error: return "error";
  }
  return "error";
}

std::string_view name_of(RunReport::Released released) {
  switch (released) {
    case RunReport::Released::yes: return "yes";
    case RunReport::Released::no: return "no";
    case RunReport::Released::kept: return "kept";
    case RunReport::Released::unknown: return "unknown";
  }
  return "unknown";
}

std::string folder_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : file.substr(0, slash);
}

/// Aside first, then renamed: whoever looks sees a whole report or none. A name of ours alone, so that nobody's link is followed.
int write_file(const std::string& file, std::string_view line) noexcept {
  const std::string aside = fmt::format("{}.{}.tmp", file, ::getpid());
  const int fd = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  int failed = write_all(fd, line);
  if (::close(fd) != 0 && failed == 0) failed = errno;
  if (failed == 0 && ::rename(aside.c_str(), file.c_str()) != 0) failed = errno;
  if (failed != 0) ::unlink(aside.c_str());
  return failed;
}

/// A pipe, a socket or a disk. Whoever reads it would wait for ever for what has taken its place; and to open a pipe would
/// wait for a reader.
bool is_special(const std::string& file) {
  struct stat there{};
  return ::lstat(file.c_str(), &there) == 0 &&
         (S_ISFIFO(there.st_mode) || S_ISSOCK(there.st_mode) || S_ISBLK(there.st_mode));
}

/// A device or a descriptor (/dev/null, /dev/stderr, /dev/fd/63) is written to: a report must never take its place. A link
/// elsewhere is replaced, wherever it leads: others may have put it there.
bool is_sink(const std::string& file) {
  struct stat there{};
  if (::lstat(file.c_str(), &there) != 0) return false;
  if (!S_ISLNK(there.st_mode)) return S_ISCHR(there.st_mode);
  char target[PATH_MAX];
  const ssize_t size = ::readlink(file.c_str(), target, sizeof target);
  const std::string_view leads_to{target, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  return leads_to.starts_with("/proc/self/fd/") || file.starts_with("/dev/fd/") ||
         file.starts_with("/proc/self/fd/");
}

}  // namespace

std::string RunReport::json() const {
  Json servers;
  if (nodes) {
    std::vector<Json> items;
    for (const Node& node : *nodes)
      items.push_back(Json::object({{"url", node.url}, {"granted", node.granted}, {"said", node.said}}));
    servers = Json::array(items);
  }
  return Json::object({{"v", 1},
                       {"outcome", name_of(outcome)},
                       {"exit", exit},
                       {"command_exit", command_exit},
                       {"command_signal", command_signal},
                       {"keys", Json::list(keys)},
                       {"type", type},
                       {"owner", owner},
                       {"fence", fence},
                       {"slots", slots ? Json::list(*slots) : Json{}},
                       {"waited_ms", waited},
                       {"held_ms", held},
                       {"released", released ? Json{name_of(*released)} : Json{}},
                       {"nodes", servers},
                       {"error", error}})
      .str();
}

void open_status(std::optional<std::int64_t> fd, const std::string& file, const RunReport& report) {
  destination = {.fd = fd, .file = file, .sink = {}, .report = report, .written = !fd && file.empty()};
  if (fd && *fd > STDERR_FILENO)  // what the command writes to its stdout must not end up in its first file
    ::fcntl(static_cast<int>(*fd), F_SETFD, FD_CLOEXEC);
  if (file.empty()) return;
  const auto refuse_because = [&](std::string_view why) {
    destination.written = true;
    throw Error{Error::system, fmt::format("--status-file {}: {}", in_quotes(file), why)};
  };
  const auto refuse = [&] { refuse_because(std::strerror(errno)); };
  if (is_special(file)) refuse_because("neither a file nor a character device; see --status-fd");
  if (is_sink(file)) {
    destination.sink.reset(::open(file.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC));
    if (!destination.sink) refuse();
    return;
  }
  // An old report must not be taken for ours, even when we are killed before we can say anything.
  if (::unlink(file.c_str()) != 0 && errno != ENOENT) refuse();
  if (::access(folder_of(file).c_str(), W_OK | X_OK) != 0) refuse();
}

void foresee_status(const RunReport& report) { destination.report = report; }

void write_status(const RunReport& report) noexcept {
  if (destination.written) return;
  destination.written = true;
  const std::string line = report.json() + "\n";
  if (destination.fd) {
    if (const int failed = write_all(static_cast<int>(*destination.fd), line))
      complain(fmt::format("cannot write the status to descriptor {}: {}", *destination.fd,
                           std::strerror(failed)));
  }
  if (!destination.file.empty()) {
    const auto& sink = destination.sink;
    if (const int failed = sink ? write_all(sink.number(), line) : write_file(destination.file, line))
      complain(fmt::format("cannot write the status to {}: {}", in_quotes(destination.file),
                           std::strerror(failed)));
  }
}

void write_failed_status(Error::Kind kind, const std::string& text) noexcept {
  if (destination.written) return;
  RunReport report = destination.report;
  report.outcome = kind == Error::unreachable ? RunReport::Outcome::unreachable : RunReport::Outcome::error;
  report.exit = exit_code::of(kind);
  report.error = text;
  write_status(report);
}

}  // namespace rlock
