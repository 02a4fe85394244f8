#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/time.h"

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

  /// Reads a file that can be read only once (a pipe: `--password-file <(pass redis)`), and waits until its writer
  /// closes it. Remembers the password, or why there is none; read() then returns or throws that. Does nothing if the
  /// file can be read again.
  void await(const Patience& patience) const;

  /// The current password; empty: there is none. Removes one line end at the end of a file. Never waits: before
  /// await(), a pipe must have all its data. Throws Error{config} if the file cannot be read, or is not one line of
  /// text.
  std::optional<std::string> read() const;

 private:
  /// Both are empty as long as the file has to be read.
  struct Known {
    std::optional<std::string> password{};
    std::optional<Error> failure{};
  };

  void remember(const Patience& patience) const;

  std::string path_;

  /// Shared by all copies, because a pipe can be read only once, and several servers, a keeper and a guardian need the
  /// password. Null: there is no password.
  std::shared_ptr<Known> known_{};
};

}  // namespace rlock
