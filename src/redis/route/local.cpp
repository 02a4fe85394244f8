// Each server holds a lock on a file as long as it lives. An rlock that finds no listener tries to get this lock. If it
// does, it starts a server, which inherits the lock. So of many rlocks that begin at once, one starts a server, and the
// others wait for it.
//
// Nothing here runs in the loop: each step blocks for a moment, and pause() ends it with the caller's patience.

#include "redis/route/local.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "base/blocking.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "process/daemon.h"
#include "process/program.h"
#include "redis/connection/peer.h"
#include "redis/route/local_directory.h"

namespace rlock {
namespace {

/// For so long, a server may have its lock and not listen: while it starts or stops.
constexpr Milliseconds kBetweenStates{2000};

/// How long we wait for one answer, and the pause between two questions.
constexpr Milliseconds kLocalAnswers{200};
constexpr Milliseconds kPause{2};

/// The process that listens: an open connection to it, and its credentials from the kernel.
struct Listener {
  Descriptor connection;
  ucred peer{};
};

[[noreturn]] void refuse(Error::Kind kind, std::string_view why) {
  throw Error{kind, fmt::format("local: {}", why)};
}

/// Empty if no process listens. Throws Error{config} if the listener belongs to another user.
std::optional<Listener> find_listener(const std::string& path) {
  Listener listener{Descriptor{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)}};
  const int fd = listener.connection.number();
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(static_cast<char*>(address.sun_path),
            sizeof address.sun_path - 1);  // LocalDirectory has checked that it fits
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EAGAIN) return listener;  // it listens, but its queue is full now
    if (errno == ENOENT || errno == ECONNREFUSED) return std::nullopt;
    refuse(Error::unreachable,
           fmt::format("cannot connect to {}: {}", in_quotes(path), std::strerror(errno)));
  }
  listener.peer = peer_of(fd);
  if (listener.peer.uid != ::geteuid())
    refuse(Error::config, fmt::format("another user listens at {}", in_quotes(path)));
  return listener;
}

/// The server's answer to a command. Empty: there was none in time, or the server hung up.
std::string ask(const Listener& listener, std::string_view command) {
  const int fd = listener.connection.number();
  const timeval patience{.tv_sec = 0, .tv_usec = std::chrono::microseconds{kLocalAnswers}.count()};
  ::fcntl(fd, F_SETFL, 0);
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::array<char, 512> answer{};
  if (::send(fd, command.data(), command.size(), MSG_NOSIGNAL) < 0) return "";
  const ssize_t got = ::recv(fd, answer.data(), answer.size(), 0);
  return std::string{answer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

/// Pauses for a moment. Returns false if the patience has ended.
bool pause(const Patience& patience) {
  if (patience.interrupted() || has_passed(patience.until)) return false;
  ::usleep(static_cast<useconds_t>(std::chrono::microseconds{kPause}.count()));
  return true;
}

/// The lock file that a server holds locked as long as it lives. Empty if a server or another rlock has
/// locked it.
Descriptor acquire_lock(const Descriptor& directory) {
  Descriptor lock{::openat(directory.number(), "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (lock && ::flock(lock.number(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (lock && errno == EWOULDBLOCK) return Descriptor{};
  refuse(Error::system, fmt::format("cannot lock its folder: {}", std::strerror(errno)));
}

/// Looks in PATH and in the usual folders, because PATH is short under cron. Empty if no server is installed.
std::optional<std::string> find_server() {
  const std::string places =
      environment_variable("PATH").value_or("") + ":/usr/local/bin:/usr/bin:/usr/local/sbin:/usr/sbin";
  for (const char* name : {"redis-server", "valkey-server"}) {
    for (const std::string& place : split(places, ':')) {
      if (!place.starts_with('/')) continue;
      if (std::string file = place + "/" + name; is_program(file)) return file;
    }
  }
  return std::nullopt;
}

/// Starts a server without TCP that keeps everything on disk and evicts nothing. It gets none of our environment,
/// which may hold secrets. All its files are named relative to the checked folder, so it does not matter where the
/// path leads by now.
void start(const Descriptor& folder, const Descriptor& lock) {
  const auto server = find_server();
  if (!server)
    refuse(
        Error::unreachable,
        "neither redis-server nor valkey-server is installed; install one, or use another server than local:");
  start_daemon({.argv = {*server, "--port", "0", "--unixsocket", LocalDirectory::kSocket, "--unixsocketperm",
                         "700", "--pidfile", "server.pid", "--logfile", "server.log", "--loglevel", "warning",
                         "--appendonly", "yes", "--save", "", "--maxmemory-policy", "noeviction"},
                .environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"},
                .keep = lock.number(),
                .folder = folder.number()});
  info(fmt::format("started a private server for local: ({}; `rlock server stop` ends it)",
                   sanitized(*server)));
}

std::string does_not_answer(const LocalDirectory& directory) {
  return fmt::format(
      "a server runs in {} but does not answer; its pid is in server.pid, its messages are in server.log",
      in_quotes(directory.path()));
}

}  // namespace

bool local_server_is_installed() { return find_server().has_value(); }

Address ensure_local_server(const Patience& patience) {
  const LocalDirectory directory;
  Address address{.path = directory.socket(), .own = true};
  if (directory.open() && find_listener(address.path)) return address;

  const Descriptor folder = directory.create();
  bool started = false;
  do {
    if (const auto listener = find_listener(address.path)) {
      const std::string answer = ask(*listener, "PING\r\n");
      if (!answer.empty() && !answer.starts_with("-LOADING")) return address;
      continue;
    }
    const Descriptor lock = acquire_lock(folder);
    if (!lock) continue;  // a server is about to listen, or another rlock starts one
    if (started)
      refuse(Error::unreachable,
             fmt::format("the server ended at once; see {}", in_quotes(directory / "server.log")));
    start(folder, lock);
    started = true;
  } while (pause(patience));

  if (patience.interrupted()) return address;
  if (find_listener(address.path)) return address;  // it may still be loading; its replies will say so
  refuse(Error::unreachable, does_not_answer(directory));
}

bool stop_local_server(const Patience& patience) {
  const LocalDirectory directory;
  const Descriptor folder = directory.open();
  if (!folder || acquire_lock(folder)) return false;

  std::string refusal;
  do {
    if (const auto listener = find_listener(directory.socket())) refusal = ask(*listener, "SHUTDOWN\r\n");
    // The lock is free only when the server is gone, with the processes that it forked to write.
    if (acquire_lock(folder)) return true;
  } while (pause(patience));
  if (refusal.empty()) refuse(Error::unreachable, does_not_answer(directory));
  refuse(Error::unreachable, fmt::format("the server does not stop: {}", in_quotes(refusal)));
}

LocalServer local_server() {
  const LocalDirectory directory;
  LocalServer facts{.directory = directory.path(), .address = {.path = directory.socket()}};
  const Descriptor folder = directory.open();
  if (!folder) return facts;
  const Patience patience = within(kBetweenStates);
  do {
    if (const auto listener = find_listener(facts.address.path)) {
      facts.running = true;
      facts.pid = listener->peer.pid;
      return facts;
    }
    if (acquire_lock(folder)) return facts;
  } while (pause(patience));
  refuse(Error::unreachable, does_not_answer(directory));
}

}  // namespace rlock
