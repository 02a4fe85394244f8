#include "cmd/hold/report/event_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "process/std_descriptors.h"

namespace rlock {
namespace {

constexpr int kHow = O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
constexpr mode_t kMode = 0644;

[[noreturn]] void refuse(const std::string& where) { throw_system_error("--events " + in_quotes(where)); }

/// Has open() failed because no process reads this pipe?
bool is_unread_pipe(const std::string& path) {
  struct stat facts{};
  return errno == ENXIO && ::stat(path.c_str(), &facts) == 0 && S_ISFIFO(facts.st_mode);
}

mode_t mode_of(int fd) {
  struct stat facts{};
  return ::fstat(fd, &facts) == 0 ? facts.st_mode : 0;
}

/// Opens the same file again, because O_NONBLOCK on the user's descriptor would affect all processes that inherited it.
/// A socket cannot be opened again, so its descriptor is duplicated. This is also done for a regular file, because a
/// new descriptor would have its own offset, and the command would overwrite our lines. A regular file needs no
/// O_NONBLOCK: a write does not wait for a reader. Empty: no process reads this pipe.
Descriptor open_again(int fd, const std::string& where) {
  const std::string path = fmt::format("/proc/self/fd/{}", fd);
  const mode_t mode = mode_of(fd);
  Descriptor again{S_ISSOCK(mode) || S_ISREG(mode) ? ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                                                   : ::open(path.c_str(), kHow)};
  if (!again && !is_unread_pipe(path)) refuse(where);
  keep_from_command(fd);
  keep_from_command(again.number());
  return again;
}

std::string json(const Event& event, std::int64_t dropped) {
  Json::Fields fields{{"event", Json::word(event.name)}, {"at", event.at}, {"pid", event.pid}};
  if (!event.keys.empty()) fields.emplace_back("key", Json{event.keys.front()});
  if (event.keys.size() > 1) fields.emplace_back("keys", Json::keys(event.keys));
  fields.insert(fields.end(), event.fields.begin(), event.fields.end());
  if (dropped > 0) fields.emplace_back("dropped", dropped);
  return Json::document(std::move(fields)).str();
}

}  // namespace

void EventFile::open(const std::string& where) {
  if (const auto number = parse_count(where); number && *number <= INT_MAX) {
    sink_ = open_again(static_cast<int>(*number), where);
  } else {
    sink_.reset(::open(where.c_str(), kHow | O_CREAT, kMode));
    if (!sink_) {
      if (!is_unread_pipe(where)) refuse(where);
      unread_ = where;
    }
  }
  is_socket_ = S_ISSOCK(mode_of(sink_.number()));
}

void EventFile::write(const Event& event) noexcept {
  if (!sink_) {
    if (unread_.empty()) return;
    sink_.reset(::open(unread_.c_str(), kHow));
    if (!sink_) {
      ++dropped_;
      return;
    }
  }
  const std::string line = (torn_ ? "\n" : "") + json(event, dropped_) + "\n";
  const ssize_t done = is_socket_
                           ? ::send(sink_.number(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                           : ::write(sink_.number(), line.data(), line.size());
  if (done == static_cast<ssize_t>(line.size())) {
    dropped_ = 0;
    torn_ = false;
  } else {
    ++dropped_;
    torn_ = torn_ || done > 0;
    const int error = done < 0 ? errno : S_ISREG(mode_of(sink_.number())) ? ENOSPC : EAGAIN;
    const bool reader_is_slow_or_gone = error == EAGAIN || error == EPIPE || is_socket_;
    if (!reader_is_slow_or_gone && !std::exchange(warned_, true))
      warn(fmt::format("--events: an event is lost: {}", std::strerror(error)));
  }
}

}  // namespace rlock
