// connect() with a time limit. A helper process looks up a host name (Lookup). Its results, or the numeric addresses,
// become endpoints_. connect_next() tries them in order, each for its share of the remaining time. So the first
// address of a dual-stack host cannot use up the time of the second. Of all failures the first is reported: see
// note().

#include "redis/connection/dial.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "redis/connection/peer.h"
#include "redis/delivery.h"

namespace rlock {
namespace {

/// The text for an error of connect().
std::string refusal(int error) {
  return error == EAGAIN ? "its listen queue is full" : errno_text(error);  // a Unix socket says EAGAIN
}

std::uint32_t zone_of(const std::string& name) {
  const auto number = parse_count(name);
  return number ? static_cast<std::uint32_t>(*number) : ::if_nametoindex(name.c_str());
}

void tune(int fd) {
  const int on = 1;
  const unsigned unconfirmed = kUnconfirmed.count();  // ms
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unconfirmed, sizeof unconfirmed);
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

}  // namespace

Dial::Dial(const Address& address, TimePoint now, TimePoint until, const Lookup::Resolver& resolve)
    : address_(address), until_(until), share_ends_(until) {
  if (address_.is_unix()) {
    add_unix(address_.path);
  } else if (address_.host == "localhost") {
    add("127.0.0.1");
    add("::1");
  } else if (!add(address_.host)) {
    lookup_.emplace(address_.host, resolve);
    return;
  }
  if (!failure_) connect_next(now);
}

void Dial::add_unix(const std::string& path) {
  Endpoint endpoint;
  auto& to = reinterpret_cast<sockaddr_un&>(endpoint.address);
  if (path.size() >= sizeof to.sun_path) {
    failure_ = "the path is too long for a socket";
    return;
  }
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, path.c_str(), path.size() + 1);
  endpoint.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  endpoints_.push_back(endpoint);
}

/// Returns false if it is no numeric address.
bool Dial::add(const std::string& numeric) {
  Endpoint endpoint;
  auto& v4 = reinterpret_cast<sockaddr_in&>(endpoint.address);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(endpoint.address);
  const auto zone = std::min(numeric.find('%'), numeric.size());
  if (::inet_pton(AF_INET, numeric.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address_.port);
    endpoint.size = sizeof v4;
  } else if (::inet_pton(AF_INET6, numeric.substr(0, zone).c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(address_.port);
    if (zone < numeric.size()) v6.sin6_scope_id = zone_of(numeric.substr(zone + 1));
    endpoint.size = sizeof v6;
  } else {
    return false;
  }
  endpoints_.push_back(endpoint);
  return true;
}

short Dial::interest() const noexcept {
  if (lookup_) return POLLIN;
  return socket_ && !connected_ ? POLLOUT : short{0};
}

void Dial::connect_next(TimePoint now) {
  while (next_ < endpoints_.size() && now < until_) {
    const auto waiting = static_cast<std::int64_t>(endpoints_.size() - next_);
    share_ends_ = std::min(until_, plus(now, remaining(until_, now) / waiting));
    if (connect(endpoints_[next_++])) return;
  }
  failure_ = first_failure_.empty() ? silence() : first_failure_;
  if (next_ == 2) *failure_ += " (1 other address failed too)";
  if (next_ > 2) *failure_ += fmt::format(" ({} other addresses failed too)", next_ - 1);
}

/// Keeps the first failure, because the address that the system would try first is the best clue.
void Dial::note(const std::string& failure) {
  if (first_failure_.empty()) first_failure_ = failure;
}

/// Returns true if it is connected, or connecting.
bool Dial::connect(const Endpoint& endpoint) {
  const auto family = endpoint.address.ss_family;
  socket_.reset(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket_) {
    note(refusal(errno));
    return false;
  }
  if (family != AF_UNIX) tune(socket_.number());
  connected_ =
      ::connect(socket_.number(), reinterpret_cast<const sockaddr*>(&endpoint.address), endpoint.size) == 0;
  const bool strange = connected_ && address_.own && peer_of(socket_.number()).uid != ::geteuid();
  if (!strange && (connected_ || errno == EINPROGRESS)) return true;
  note(strange ? "another user listens there" : refusal(errno));
  connected_ = false;
  socket_.reset();
  return false;
}

/// The result of the connection attempt: 0 or an error. Empty: it is still going on.
std::optional<int> Dial::outcome() const {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket_.number(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return error;
  // The event may be that of an earlier socket with the same number. Only a peer proves that we are connected.
  sockaddr_storage peer{};
  size = sizeof peer;
  if (::getpeername(socket_.number(), reinterpret_cast<sockaddr*>(&peer), &size) == 0) return 0;
  return std::nullopt;
}

std::string Dial::silence() const {
  return lookup_ ? fmt::format("cannot look up {}: no answer in time", in_quotes(address_.host))
                 : "no answer to the connection attempt";
}

void Dial::drain_lookup(TimePoint now) {
  lookup_->ready();
  if (lookup_->failure()) {
    failure_ = fmt::format("cannot look up {}: {}", in_quotes(address_.host), sanitized(*lookup_->failure()));
  } else if (lookup_->found()) {
    for (const std::string& numeric : *lookup_->found()) add(numeric);
  } else if (now < until_) {
    return;
  } else {
    failure_ = silence();
  }
  lookup_.reset();
  if (!failure_) connect_next(now);
}

void Dial::ready(short events, TimePoint now) {
  if (connected_ || failure_) return;
  if (lookup_) return drain_lookup(now);
  if (events != 0 && socket_) {
    if (const auto ended = outcome()) {
      connected_ = *ended == 0;
      if (connected_) return;
      note(refusal(*ended));
      return connect_next(now);
    }
  }
  if (now < share_ends_) return;
  note(silence());
  connect_next(now);
}

}  // namespace rlock
