#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace rlock {

/// Owns a file descriptor, or none (-1), and closes it.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~Descriptor() { reset(); }

  int number() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

  void reset(int fd = -1) noexcept {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

/// A pipe that exec closes. If it cannot be made, it has no ends, and errno says why.
struct Pipe {
  Descriptor reading, writing;

  explicit Pipe(int flags = 0) noexcept {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | flags) == 0) reading.reset(ends[0]), writing.reset(ends[1]);
  }
  explicit operator bool() const noexcept { return static_cast<bool>(reading); }
};

}  // namespace rlock
