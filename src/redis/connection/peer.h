#pragma once

#include <sys/socket.h>

namespace rlock {

/// The process that was listening at the other end of a Unix socket when we connected, according to the
/// kernel.
inline ucred peer_of(int socket) noexcept {
  ucred peer{.pid = 0, .uid = static_cast<uid_t>(-1), .gid = static_cast<gid_t>(-1)};
  socklen_t size = sizeof peer;
  ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size);
  return peer;
}

}  // namespace rlock
