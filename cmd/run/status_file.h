#pragma once

#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/time.h"

namespace rlock {

/// How long a report waits for the reader of a pipe or a terminal before rlock gives it up.
constexpr Milliseconds kStatusPatience{5000};

/// The target of --status-file. A file is replaced as a whole; a character device or an open descriptor
/// (/dev/null, /dev/stderr, /dev/fd/63) is written to.
///
/// Other users may be able to write into the folder. So a link is followed only if it is ours or root's, and the name
/// of the temporary file cannot be guessed.
class StatusFile {
 public:
  StatusFile() = default;

  /// Removes an old report. If `path` names a descriptor, the command does not inherit it unless it is a
  /// standard one. Throws Error{system} if a report could not be written later.
  explicit StatusFile(std::string path);

  bool named() const noexcept { return !path_.empty(); }
  const std::string& path() const noexcept { return path_; }

  /// Returns 0 or the errno of the failure.
  [[nodiscard]] int write(std::string_view report) const noexcept;

 private:
  int replace(std::string_view report) const noexcept;

  std::string path_;
  std::string aside_;  ///< the temporary file for a report
  Descriptor sink_;    ///< the descriptor or device to write to
};

/// Would a report at `path` replace the file `other`? No if `path` names a descriptor or a device.
bool replaces(const std::string& path, const std::string& other);

}  // namespace rlock
