#pragma once

#include <sys/types.h>

#include <string>

#include "base/time.h"
#include "redis/connection/target.h"

namespace rlock {

/// The private server behind `local:`. There is one for each user and machine. It listens on a Unix socket in
/// a folder that other users cannot enter ($XDG_STATE_HOME/rlock, else ~/.local/state/rlock). It keeps a file
/// there locked as long as it lives, so a second server cannot start, even if the socket was deleted.
///
/// These functions throw Error{config} if the folder is not safe or its path is too long for a socket.

/// Returns the address of the private server. If it does not run, starts redis-server or valkey-server and waits
/// until it answers. If it runs, this costs one connect(). Throws Error{unreachable} if none is installed or it does
/// not answer in time. If `patience` is interrupted, returns the address without an error, because the caller will
/// not use it.
Address ensure_local_server(const Patience& patience);

/// Is a server program installed? Throws nothing.
bool local_server_is_installed();

/// How long the server may take to start. If it ends at once, we report that at once.
constexpr Milliseconds kLocalStart{10000};

/// Stops the server, which saves its data, and waits until it is gone. Returns false if it does not run.
/// Throws Error{unreachable} if it does not stop.
bool stop_local_server(const Patience& patience);

/// The facts about the private server. Does not start it. Throws Error{unreachable} if it runs but does not listen.
struct LocalServer {
  std::string directory;
  Address address;
  bool running = false;
  pid_t pid = 0;  ///< the process that listens, according to the kernel; 0: unknown
};
LocalServer local_server();

}  // namespace rlock
