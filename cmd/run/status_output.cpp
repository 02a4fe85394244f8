#include "cmd/run/status_output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "base/write_all.h"
#include "process/std_descriptors.h"

namespace rlock {
namespace {

const char* why_unwritten(int failed) {
  return failed == ETIMEDOUT ? "no process reads it" : std::strerror(failed);
}

}  // namespace

void StatusOutput::open(std::optional<std::int64_t> fd, const std::string& file) {
  opened_ = true;
  fd_ = fd;
  if (fd) keep_from_command(static_cast<int>(*fd));
  if (!file.empty()) file_ = StatusFile{file};
  wanted_ = fd || !file.empty();
}

void StatusOutput::write(const HoldReport& report) noexcept {
  if (const auto listener = std::exchange(listener_, nullptr)) listener(report);
  if (!std::exchange(wanted_, false)) return;
  const std::string line = report.json() + "\n";
  if (fd_) {
    if (const int failed = write_all(static_cast<int>(*fd_), line, within(kStatusPatience)))
      warn(fmt::format("cannot write the status to descriptor {}: {}", *fd_, why_unwritten(failed)));
  }
  if (file_.named()) {
    if (const int failed = file_.write(line))
      warn(fmt::format("cannot write the status to {}: {}", in_quotes(file_.path()), why_unwritten(failed)));
  }
}

}  // namespace rlock
