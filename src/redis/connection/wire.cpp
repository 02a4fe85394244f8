#include "redis/connection/wire.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>

#include "base/text.h"

namespace rlock {
namespace {

/// One turn of the loop reads this many pieces at most, because a flood must not keep us from other work.
constexpr int kMostPieces = 16;

constexpr std::string_view kEnd = "\r\n";

/// "$", 20 digits and "\r\n".
constexpr std::size_t kLongestHead = 23;

/// Appends "*3\r\n" or "$7\r\n". fmt would take most of the time, because a run writes a hundred words.
void append_head(std::string& command, char kind, std::size_t count) {
  std::array<char, kLongestHead> head{kind};
  char* const digits_end = std::to_chars(head.data() + 1, head.data() + head.size(), count).ptr;
  command.append(head.data(), digits_end).append(kEnd);
}

}  // namespace

short Wire::interest() const noexcept {
  return static_cast<short>(unsent_.empty() ? POLLIN : POLLIN | POLLOUT);
}

void Wire::append(const std::vector<std::string>& words) {
  std::string for_tls;
  std::string& command = tls_ ? for_tls : unsent_;
  std::size_t size = kLongestHead;
  for (const std::string& word : words) size += kLongestHead + word.size();
  command.reserve(command.size() + size);
  append_head(command, '*', words.size());
  for (const std::string& word : words) {
    append_head(command, '$', word.size());
    command.append(word).append(kEnd);
  }
  if (tls_) tls_->encrypt(command);
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
  // Not on the stack, because the guardian's fork would copy the pages of the stack that were touched.
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
    if (failure_ || static_cast<std::size_t>(got) < buffer.size()) return;  // unread bytes will wake us again
  }
}

void Wire::take(std::string_view bytes, ReplyReader& reader) {
  if (!tls_) return reader.feed(bytes);
  reader.feed(tls_->decrypt(bytes));
  if (!tls_->failure()) return;
  flush();  // sends the alert, so that the other end knows the reason
  failure_ = tls_->failure();
}

void Wire::broke(int error) {
  failure_ = Failure{Error::unreachable, fmt::format("the connection broke ({})", errno_text(error))};
}

}  // namespace rlock
