#pragma once

#include <string>

#include "base/descriptor.h"

namespace rlock {

/// The folder of the private server: "$XDG_STATE_HOME/rlock", else "~/.local/state/rlock". The home comes
/// from the password database where HOME is not set, so that cron and a login find the same server.
class LocalDirectory {
 public:
  static constexpr const char* kSocket = "redis.sock";

  /// Only names it. Throws Error{config} when there is no home, or its path is too long for a socket.
  LocalDirectory();

  const std::string& path() const noexcept { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::string socket() const { return *this / kSocket; }

  /// Opens it (O_PATH); returns an empty Descriptor if it does not exist. Throws Error{config} if another
  /// user could enter or exchange it: the folder must be ours with mode 0700, and the folders and links
  /// that lead to it ours or root's. Others may write to none of those folders, unless it is sticky, as
  /// /tmp is.
  Descriptor open() const;

  /// Makes it, with the folders above it, where it does not exist; then as open().
  Descriptor create() const;

 private:
  std::string path_;
};

}  // namespace rlock
