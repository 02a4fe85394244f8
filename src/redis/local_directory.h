#pragma once

#include <string>

#include "base/descriptor.h"

namespace rlock {

/// The folder of the private server: "$XDG_STATE_HOME/rlock", else "~/.local/state/rlock". The home comes
/// from the password database where HOME is not set, so that cron and a login find the same server.
class LocalDirectory {
 public:
  /// Only names it. Throws Error{config} when there is no home, or its path is too long for a socket.
  LocalDirectory();

  const std::string& path() const noexcept { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::string socket() const { return *this / "redis.sock"; }

  /// Opens it when it exists, or nothing. Throws Error{config} when somebody else could enter or exchange it.
  Descriptor open() const;

  /// Makes it, with the folders above it, where it does not exist; then as open().
  Descriptor create() const;

 private:
  std::string path_;
};

}  // namespace rlock
