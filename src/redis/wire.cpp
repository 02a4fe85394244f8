#include "redis/wire.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "base/text.h"

namespace rlock {
namespace {

/// How much one turn of the loop reads: a flood must not keep us from looking at anything else.
constexpr int kMostPieces = 16;

}  // namespace

short Wire::interest() const noexcept {
  return static_cast<short>(unsent_.empty() ? POLLIN : POLLIN | POLLOUT);
}

void Wire::say(const std::vector<std::string>& words) {
  std::string command = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words)  // a run writes a hundred of them: fmt would take most of the time
    command.append("$").append(std::to_string(word.size())).append("\r\n").append(word).append("\r\n");
  if (tls_) {
    tls_->say(command);
  } else {
    unsent_ += command;
  }
}

void Wire::flush() {
  if (tls_) unsent_ += tls_->take_wire();
  while (!unsent_.empty() && !failure_) {
    const ssize_t sent = ::send(socket_.number(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) return broke(errno);
    unsent_.erase(0, static_cast<std::size_t>(sent));
  }
}

void Wire::receive(ReplyReader& reader) {
  // Not on the stack, where each page of it would be touched, and copied once more after the guardian's fork.
  static std::array<char, 16384> buffer;
  for (int piece = 0; piece < kMostPieces; ++piece) {
    const ssize_t got = ::recv(socket_.number(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got < 0) return broke(errno);
    if (got == 0) {
      failure_ =
          Failure{Error::unreachable, secure() ? "the server closed the connection"
                                               : "the server closed the connection during the TLS handshake"};
      return;
    }
    take({buffer.data(), static_cast<std::size_t>(got)}, reader);
    if (failure_ || static_cast<std::size_t>(got) < buffer.size()) return;  // what is left will wake us again
  }
}

void Wire::take(std::string_view bytes, ReplyReader& reader) {
  if (!tls_) return reader.feed(bytes);
  reader.feed(tls_->hear(bytes));
  if (!tls_->failure()) return;
  flush();  // an alert: the other end should know why
  failure_ = tls_->failure();
}

void Wire::broke(int error) {
  failure_ = Failure{Error::unreachable, fmt::format("the connection broke ({})", reason(error))};
}

}  // namespace rlock
