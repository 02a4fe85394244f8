#pragma once

#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace rlock {

/// Where --status-file leads: to a file that a report replaces as a whole, or to a character device or an
/// open descriptor (/dev/null, /dev/stderr, /dev/fd/63) that the report is written to.
///
/// Others may be able to write into the folder: no link is opened by its path, and nobody can guess the name
/// under which a report is written before it replaces the file.
class StatusFile {
 public:
  StatusFile() = default;

  /// Removes an old report, and keeps a descriptor that `path` names from being inherited, unless it is a
  /// standard one. Throws Error{system} when a report could not be written in the end.
  explicit StatusFile(std::string path);

  bool named() const noexcept { return !path_.empty(); }
  const std::string& path() const noexcept { return path_; }

  /// Answers the errno that stopped it; 0: done.
  [[nodiscard]] int write(std::string_view report) const noexcept;

 private:
  int replace(std::string_view report) const noexcept;

  std::string path_;
  std::string aside_;  ///< where a report is written before it is renamed
  Descriptor sink_;    ///< what must not be replaced
};

/// Close-on-exec, unless it is a standard one: what the command writes to its stdout must not end up in the
/// first file that it opens.
void keep_from_command(int fd) noexcept;

}  // namespace rlock
