#include "cmd/run/events.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "cmd/run/status_file.h"

namespace rlock {
namespace {

constexpr int kHow = O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
constexpr mode_t kMode = 0644;

Milliseconds since_epoch() {
  return std::chrono::duration_cast<Milliseconds>(std::chrono::system_clock::now().time_since_epoch());
}

[[noreturn]] void refuse(const std::string& where) {
  throw Error{Error::system, fmt::format("--events {}: {}", in_quotes(where),
                                         errno == ENXIO ? "nobody reads this pipe" : std::strerror(errno))};
}

bool is_socket(int fd) {
  struct stat facts{};
  return ::fstat(fd, &facts) == 0 && S_ISSOCK(facts.st_mode);
}

/// The same file anew: what others do with the descriptor of the user is not to change (O_NONBLOCK is shared by all
/// who have inherited it). A socket cannot be opened anew, and does without.
Descriptor open_again(int fd, const std::string& where) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) throw Error{Error::usage, fmt::format("--events: descriptor {} is not open", fd)};
  if ((flags & O_ACCMODE) == O_RDONLY)
    throw Error{Error::usage, fmt::format("--events: descriptor {} is not open for writing", fd)};
  const std::string path = fmt::format("/proc/self/fd/{}", fd);
  Descriptor again{is_socket(fd) ? ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                                 : ::open(path.c_str(), kHow)};
  if (!again) refuse(where);
  keep_from_command(fd);
  return again;
}

}  // namespace

void Events::open(const std::string& where, std::vector<LockName> keys) {
  keys_ = std::move(keys);
  if (const auto number = parse_count(where); number && *number <= INT_MAX) {
    sink_ = open_again(static_cast<int>(*number), where);
  } else {
    sink_.reset(::open(where.c_str(), kHow | O_CREAT, kMode));
    if (!sink_) refuse(where);
  }
  is_socket_ = is_socket(sink_.number());
}

void Events::waiting(const Waiting& seen) {
  if (!sink_) return;
  if (seen.failure != nullptr) return trouble(seen.failure->text);
  if (seen.busy == nullptr) return;
  if (troubled_) trouble({});
  const Busy& busy = *seen.busy;
  if (!holder_.empty() && holder_ == busy.holder && place_ == busy.position) return;
  holder_ = busy.holder.empty() ? "?" : busy.holder;
  place_ = busy.position;
  write("waiting", {{"holder", busy.holder.empty() ? Json{} : Json{busy.holder}}, {"place", busy.position}});
}

void Events::acquired(const RunReport& report) {
  troubled_ = false;
  write("acquired", {{"owner", report.owner}, {"fence", report.fence}, {"waited_ms", report.waited}});
}

void Events::trouble(std::string_view why) {
  if (troubled_ == !why.empty()) return;
  troubled_ = !why.empty();
  if (troubled_)
    write("trouble", {{"why", why}});
  else
    write("recovered", {});
}

void Events::lost(std::string_view why) {
  if (std::exchange(said_lost_, true)) return;
  write("lost", {{"why", why}});
}

void Events::stopping(std::string_view why) { write("stopping", {{"why", why}}); }

void Events::ended(const RunReport& report) {
  const std::string_view outcome = text_of(report.outcome);
  if (!report.locked)
    return write("gave-up", {{"outcome", outcome}, {"exit", report.exit}, {"why", report.error}});
  if (report.outcome == RunReport::Outcome::lost) lost(report.error.value_or(""));
  if (report.released && *report.released != RunReport::Released::no)
    write("released", {{"outcome", outcome}, {"exit", report.exit}, {"held_ms", report.held}});
}

void Events::write(std::string_view event, Fields more) noexcept {
  if (!sink_) return;
  Fields fields{{"v", 1}, {"event", Json::word(event)}, {"at", since_epoch()}, {"pid", ::getpid()}};
  if (!keys_.empty()) fields.emplace_back("key", Json{keys_.front()});
  if (keys_.size() > 1) fields.emplace_back("keys", Json::keys(keys_));
  fields.insert(fields.end(), more.begin(), more.end());
  if (dropped_ > 0) fields.emplace_back("dropped", dropped_);
  const std::string line = (torn_ ? "\n" : "") + Json::object(fields).str() + "\n";
  const ssize_t done = is_socket_
                           ? ::send(sink_.number(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                           : ::write(sink_.number(), line.data(), line.size());
  if (done == static_cast<ssize_t>(line.size())) {
    dropped_ = 0;
    torn_ = false;
  } else {
    ++dropped_;
    torn_ = torn_ || done > 0;
  }
}

}  // namespace rlock
