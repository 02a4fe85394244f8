#pragma once

#include <cstdint>
#include <string>

namespace rlock::test {

/// A socket that listens on a free port of loopback.
struct TcpListener {
  int fd;
  std::uint16_t port;
};
TcpListener listen_on_loopback(std::uint16_t port = 0, int backlog = 128);
int listen_on_path(const std::string& path);

/// Sends RST instead of FIN, and closes.
void reset(int fd);

/// A port on which no connection is ever completed: its backlog is full, and SYNs are dropped.
class BlackHole {
 public:
  BlackHole();
  ~BlackHole();
  BlackHole(const BlackHole&) = delete;
  BlackHole& operator=(const BlackHole&) = delete;

  std::uint16_t port() const noexcept { return listener_.port; }

 private:
  TcpListener listener_;
  int fillers_[4];
};

}  // namespace rlock::test
