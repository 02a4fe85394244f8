#pragma once

#include <sys/types.h>

#include <string>

#include "base/time.h"
#include "redis/target.h"

namespace rlock {

/// The private server behind `local:`: one per user and machine, on a Unix socket in a folder that nobody
/// else can enter ($XDG_STATE_HOME/rlock, else ~/.local/state/rlock). It holds a flock on a file there as
/// long as it lives, so there is never a second one, even where its socket has been deleted.
///
/// All of these throw Error{config} when the folder is not safe or its path is too long for a socket.

/// Where it listens. Starts the installed redis-server or valkey-server when it does not run, and waits until
/// it answers. Costs a connect() when it runs. Throws Error{unreachable} when none is installed, or it does
/// not come up; an interruption is no failure: whoever is interrupted will ask it nothing.
Address ensure_local_server(const Patience& patience);

/// Is there a program that could be started? Throws nothing.
bool local_server_is_installed();

/// How long a server that starts may take. It says at once when it cannot.
constexpr Milliseconds kLocalStart{10000};

/// Ends it in good order (what it holds is on disk), and waits until it is gone. False: it did not run.
/// Throws Error{unreachable} when it does not end.
bool stop_local_server(const Patience& patience);

/// What can be said about it without starting it.
struct LocalServer {
  std::string directory;
  Address address;
  bool running = false;
  pid_t pid = 0;  ///< of who listens, as the kernel says; 0 when it does not run
};
LocalServer local_server();

}  // namespace rlock
