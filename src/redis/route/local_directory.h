#pragma once

#include <string>

#include "base/descriptor.h"

namespace rlock {

/// The folder of the private server: "$XDG_STATE_HOME/rlock", else "~/.local/state/rlock". If HOME is not
/// set, the password database names the home. So cron and a login find the same server.
class LocalDirectory {
 public:
  static constexpr const char* kSocket = "redis.sock";

  /// Only computes the path. Throws Error{config} if there is no home, or the path is too long for a socket.
  LocalDirectory();

  const std::string& path() const noexcept { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::string socket() const { return *this / kSocket; }

  /// Opens the folder (O_PATH). Empty if it does not exist. Throws Error{config} if another user could enter or
  /// replace it. The folder must be ours, without rights for others. The folders and links above it must be ours or
  /// root's. Others may write to such a folder only if it is sticky like /tmp, or if they are the user's private
  /// group.
  Descriptor open() const;

  /// Makes the folder and those above it if they do not exist; then does the same as open().
  Descriptor create() const;

 private:
  std::string path_;
};

}  // namespace rlock
