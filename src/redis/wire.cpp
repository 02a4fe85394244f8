#include "redis/wire.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace rlock {
namespace {

/// How much one turn of the loop reads: a flood must not keep us from looking at anything else.
constexpr int kMostPieces = 16;

}  // namespace

short Wire::interest() const noexcept {
  return static_cast<short>(unsent_.empty() ? POLLIN : POLLIN | POLLOUT);
}

void Wire::say(const std::vector<std::string>& words) {
  unsent_ += fmt::format("*{}\r\n", words.size());
  for (const auto& word : words) {
    unsent_ += fmt::format("${}\r\n", word.size());
    unsent_ += word;
    unsent_ += "\r\n";
  }
}

void Wire::flush() {
  while (!unsent_.empty() && !broken_) {
    const ssize_t sent = ::send(socket_.number(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) return broke(errno);
    unsent_.erase(0, static_cast<std::size_t>(sent));
  }
}

void Wire::receive(ReplyReader& reader) {
  std::array<char, 16384> buffer;
  for (int piece = 0; piece < kMostPieces; ++piece) {
    const ssize_t got = ::recv(socket_.number(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got < 0) return broke(errno);
    if (got == 0) {
      broken_ = "the server closed the connection";
      return;
    }
    reader.feed({buffer.data(), static_cast<std::size_t>(got)});
    if (static_cast<std::size_t>(got) < buffer.size()) return;  // what is left will wake us again
  }
}

void Wire::broke(int error) { broken_ = fmt::format("the connection broke ({})", std::strerror(error)); }

}  // namespace rlock
