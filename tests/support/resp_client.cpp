#include "support/resp_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

namespace rlock::test {
namespace {

using SteadyClock = std::chrono::steady_clock;

int connect_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}

int connect_tcp(const std::string& host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}

}  // namespace

int connect_to(const std::string& where) {
  if (where.starts_with("unix:")) return connect_unix(where.substr(5));
  const auto colon = where.rfind(':');
  return connect_tcp(where.substr(0, colon), static_cast<std::uint16_t>(std::stoi(where.substr(colon + 1))));
}

std::string encoded(const Words& words) {
  std::string text = "*" + std::to_string(words.size()) + "\r\n";
  for (const auto& word : words) text += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  return text;
}

RespClient::RespClient(const std::string& where, std::chrono::milliseconds patience)
    : fd_(connect_to(where)), patience_(patience) {
  if (fd_ < 0) throw std::runtime_error{"nobody listens at " + where};
}

RespClient::~RespClient() { ::close(fd_); }

std::string RespClient::ask(const Words& words) {
  send(words);
  return receive();
}

void RespClient::send(const Words& words) const {
  const std::string text = encoded(words);
  if (::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error{"the server closed the connection"};
}

std::string RespClient::receive() {
  until_ = SteadyClock::now() + patience_;
  return value();
}

std::optional<std::string> RespClient::receive_within(std::chrono::milliseconds patience) {
  if (buffer_.empty() && !more(SteadyClock::now() + patience)) return std::nullopt;
  return receive();
}

bool RespClient::more(SteadyClock::time_point until) {
  const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(until - SteadyClock::now());
  pollfd ready{fd_, POLLIN, 0};
  if (rest.count() < 0 || ::poll(&ready, 1, static_cast<int>(rest.count()) + 1) <= 0) return false;
  char chunk[65536];
  const auto got = ::read(fd_, chunk, sizeof chunk);
  if (got <= 0) throw std::runtime_error{"the server closed the connection"};
  buffer_.append(chunk, static_cast<std::size_t>(got));
  return true;
}

std::string RespClient::bytes(std::size_t count) {
  while (buffer_.size() < count)
    if (!more(until_)) throw std::runtime_error{"the server does not answer"};
  std::string result = buffer_.substr(0, count);
  buffer_.erase(0, count);
  return result;
}

std::string RespClient::line() {
  auto end = std::string::npos;
  while ((end = buffer_.find("\r\n")) == std::string::npos)
    if (!more(until_)) throw std::runtime_error{"the server does not answer"};
  const std::string result = buffer_.substr(0, end);
  buffer_.erase(0, end + 2);
  return result;
}

std::string RespClient::value() {
  const std::string head = line();
  const std::string rest = head.substr(1);
  switch (head.at(0)) {
    case '+':
    case ':': return rest;
    case '-': return "(error) " + rest;
    case '$': {
      if (rest == "-1") return {};
      std::string text = bytes(std::stoul(rest) + 2);
      text.resize(text.size() - 2);
      return text;
    }
    case '*': {
      std::string text;
      for (long item = 0; item < std::stol(rest); ++item) text += (item ? "\n" : "") + value();
      return text;
    }
  }
  throw std::runtime_error{"not RESP2: " + head};
}

}  // namespace rlock::test
