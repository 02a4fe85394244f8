#include "support/sockets.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace rlock::test {
namespace {

void must(int result, const char* what) {
  if (result < 0) throw std::system_error{errno, std::generic_category(), what};
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

}  // namespace

TcpListener listen_on_loopback(std::uint16_t port, int backlog) {
  auto address = loopback(port);
  socklen_t length = sizeof address;
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  must(::bind(fd, reinterpret_cast<sockaddr*>(&address), length), "bind");
  must(::listen(fd, backlog), "listen");
  must(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length), "getsockname");
  return {fd, ntohs(address.sin_port)};
}

int listen_on_path(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  must(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), "bind");
  must(::listen(fd, 128), "listen");
  return fd;
}

void reset(int fd) {
  const linger at_once{1, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::close(fd);
}

BlackHole::BlackHole() : listener_(listen_on_loopback(0, 0)) {
  const auto address = loopback(listener_.port);
  for (int& filler : fillers_) {
    filler = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    (void)::connect(filler, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
}

BlackHole::~BlackHole() {
  for (int filler : fillers_) ::close(filler);
  ::close(listener_.fd);
}

}  // namespace rlock::test
