#pragma once

#include <memory>
#include <optional>
#include <string>

namespace rlock {

/// A password, or the file with it. The file is read for each connection, because passwords change. Messages hide
/// the password (see base/redaction.h).
class PasswordSource {
 public:
  PasswordSource() = default;
  static PasswordSource fixed(std::string password);
  static PasswordSource file(std::string path);

  bool empty() const noexcept { return known_ == nullptr; }
  const std::string& path() const noexcept { return path_; }  ///< the file's path; empty: there is no file

  /// The current password; empty: there is none. Removes one line end at the end of a file. Remembers the password if
  /// the file can be read only once (a pipe: `--password-file <(pass redis)`). Throws Error{config} if the file
  /// cannot be read, or is not one line of text.
  std::optional<std::string> read() const;

 private:
  std::string path_;

  /// Shared by all copies, because a pipe can be read only once, and several servers, a keeper and a guardian need the
  /// password. Null: there is no password. Without a value, the file is read each time.
  std::shared_ptr<std::optional<std::string>> known_{};
};

}  // namespace rlock
