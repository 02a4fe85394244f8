#include "support/fake_redis.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "support/sockets.h"

namespace rlock::test {
namespace {

constexpr const char* kEnd = "\r\n";
const std::string kEndless = "\1endless";
constexpr std::size_t kPiece = 64U << 10;  ///< an endless answer is sent in pieces of this size

std::string upper(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::toupper(c); });
  return word;
}

std::string items_of(const std::vector<std::string>& items) {
  std::string text = std::to_string(items.size()) + kEnd;
  for (const auto& item : items) text += item;
  return text;
}

/// RESP3 has pushes, RESP2 sends arrays.
std::string said_unasked(bool resp3, const std::vector<std::string>& items) {
  return (resp3 ? ">" : "*") + items_of(items);
}

}  // namespace

namespace wire {
std::string integer(long long number) { return ":" + std::to_string(number) + kEnd; }
std::string text(const std::string& bytes) {
  return "$" + std::to_string(bytes.size()) + kEnd + bytes + kEnd;
}
std::string status(const std::string& word) { return "+" + word + kEnd; }
std::string error(const std::string& text) { return "-" + text + kEnd; }
std::string nil() { return "$-1\r\n"; }
std::string array(const std::vector<std::string>& items) { return "*" + items_of(items); }
std::string push(const std::vector<std::string>& items) { return ">" + items_of(items); }
std::string endless(const std::string& first, const std::string& rest) {
  return kEndless + std::to_string(first.size()) + ":" + first + rest;
}
std::string message(const std::string& channel, const std::string& payload) {
  return push({text("message"), text(channel), text(payload)});
}
}  // namespace wire

std::optional<Words> take_command(std::string& bytes) {
  std::size_t at = 0;
  const auto number = [&](char mark) -> std::optional<std::size_t> {
    const auto end = bytes.find(kEnd, at);
    if (end == std::string::npos || bytes[at] != mark) return std::nullopt;
    const auto value = std::stoul(bytes.substr(at + 1, end - at - 1));
    at = end + 2;
    return value;
  };
  const auto count = number('*');
  if (!count) return std::nullopt;
  Words words;
  while (words.size() < *count) {
    const auto length = number('$');
    if (!length || bytes.size() < at + *length + 2) return std::nullopt;
    words.push_back(bytes.substr(at, *length));
    at += *length + 2;
  }
  bytes.erase(0, at);
  return words;
}

FakeRedis::FakeRedis(Transport transport) : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (transport == Transport::tcp) {
    const auto listener = listen_on_loopback();
    listener_ = listener.fd;
    port_ = listener.port;
  } else {
    listener_ = listen_on_path(socket());
  }
  thread_ = std::thread{[this] { serve(); }};
}

FakeRedis::~FakeRedis() {
  ends_ = true;
  wake();
  thread_.join();
  for (const auto& client : clients_) ::close(client.fd);
  ::close(listener_);
  ::close(wake_);
}

std::string FakeRedis::url() const {
  return port_ ? "redis://127.0.0.1:" + std::to_string(port_) : "unix://" + socket();
}

void FakeRedis::wake() const {
  const std::uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
}

void FakeRedis::answer(std::string bytes) {
  const std::lock_guard lock{mutex_};
  answers_.push_back(std::move(bytes));
  wake();
}

void FakeRedis::on(const std::string& name, std::string bytes) {
  const std::lock_guard lock{mutex_};
  fixed_[upper(name)] = std::move(bytes);
}

void FakeRedis::decide(Decide decide) {
  const std::lock_guard lock{mutex_};
  decide_ = std::move(decide);
}

void FakeRedis::announce(const std::string& bytes) {
  const std::lock_guard lock{mutex_};
  for (auto& client : clients_) client.unsent += bytes;
  wake();
}

void FakeRedis::greet_with(std::string bytes) {
  const std::lock_guard lock{mutex_};
  greeting_ = std::move(bytes);
}

void FakeRedis::hang_up() {
  const std::lock_guard lock{mutex_};
  for (const auto& client : clients_) ::shutdown(client.fd, SHUT_RDWR);
}

std::vector<Words> FakeRedis::log() const {
  const std::lock_guard lock{mutex_};
  return log_;
}

std::size_t FakeRedis::count(const std::string& name) const {
  const std::lock_guard lock{mutex_};
  return static_cast<std::size_t>(std::count_if(
      log_.begin(), log_.end(), [&](const Words& command) { return upper(command.front()) == upper(name); }));
}

std::string FakeRedis::received() const {
  const std::lock_guard lock{mutex_};
  return received_;
}

std::size_t FakeRedis::connections() const {
  const std::lock_guard lock{mutex_};
  return connections_;
}

std::size_t FakeRedis::open() const {
  const std::lock_guard lock{mutex_};
  return clients_.size();
}

void FakeRedis::serve() {
  while (!ends_) {
    std::vector<pollfd> watched{{wake_, POLLIN, 0}, {listener_, POLLIN, 0}};
    {
      const std::lock_guard lock{mutex_};
      for (const auto& client : clients_)
        watched.push_back(
            {client.fd, static_cast<short>(client.unsent.empty() ? POLLIN : POLLIN | POLLOUT), 0});
    }
    ::poll(watched.data(), watched.size(), -1);

    const std::lock_guard lock{mutex_};
    std::uint64_t count = 0;
    (void)!::read(wake_, &count, sizeof count);
    std::size_t at = 2;
    std::erase_if(clients_, [&](Client& client) {
      const bool ready = watched[at++].revents & (POLLIN | POLLHUP | POLLERR);
      if (ready && !listen_to(client)) return true;
      reply_to_waiting(client);
      return client.fd < 0 || !say(client, {});
    });
    if (watched[1].revents) accept();
  }
}

void FakeRedis::accept() {
  const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  ++connections_;
  clients_.push_back({.fd = fd, .unread = {}, .unsent = {}, .resp3 = false, .waiting = {}});
  if (greeting_.starts_with(kEndless))
    begin_endless(clients_.back(), greeting_);
  else
    clients_.back().unsent = greeting_;
  wake();
}

bool FakeRedis::listen_to(Client& client) {
  char buffer[65536];
  const auto got = ::read(client.fd, buffer, sizeof buffer);
  if (got <= 0) {
    ::close(client.fd);
    return false;
  }
  received_.append(buffer, static_cast<std::size_t>(got));
  client.unread.append(buffer, static_cast<std::size_t>(got));
  while (auto command = take_command(client.unread)) {
    log_.push_back(*command);
    client.waiting.push_back(std::move(*command));
  }
  return true;
}

/// Answers keep the order of the commands: a command without an answer holds back those behind it.
void FakeRedis::reply_to_waiting(Client& client) {
  while (client.fd >= 0 && !client.waiting.empty()) {
    const auto bytes = answer_to(client, client.waiting.front());
    if (!bytes) return;
    client.waiting.pop_front();
    if (*bytes == wire::kReset || *bytes == wire::kClose) {
      say(client, {});
      if (*bytes == wire::kReset)
        reset(client.fd);
      else
        ::close(client.fd);
      client.fd = -1;
      return;
    }
    if (bytes->starts_with(kEndless)) return begin_endless(client, *bytes);
    client.unsent += *bytes;
  }
}

void FakeRedis::begin_endless(Client& client, const std::string& bytes) {
  std::size_t digits = 0;
  const std::size_t size = std::stoul(bytes.substr(kEndless.size()), &digits);
  const std::size_t begin = kEndless.size() + digits + 1;
  client.unsent += bytes.substr(begin, size);
  const std::string rest = bytes.substr(begin + size);
  while (client.endless.size() < kPiece) client.endless += rest;
  client.unsent += client.endless;
}

std::optional<std::string> FakeRedis::answer_to(Client& client, const Words& command) {
  if (decide_)
    if (auto bytes = decide_(command)) return bytes;
  const auto fixed = fixed_.find(upper(command.front()));
  if (fixed != fixed_.end()) return fixed->second;
  if (auto bytes = habit(client, command)) return bytes;
  if (answers_.empty()) return std::nullopt;
  auto bytes = std::move(answers_.front());
  answers_.pop_front();
  return bytes;
}

std::optional<std::string> FakeRedis::habit(Client& client, const Words& command) const {
  const auto name = upper(command.front());
  if (name == "HELLO") {
    client.resp3 = command.size() > 1 && command[1] == "3";
    return (client.resp3 ? "%1\r\n" : "*2\r\n") + wire::text("proto") + wire::integer(client.resp3 ? 3 : 2);
  }
  if (name == "CLIENT" || name == "AUTH" || name == "SELECT") return wire::status("OK");
  if (name == "PING") return wire::status("PONG");
  if (name == "INFO") return wire::text("run_id:" + directory_.path());
  if (name.ends_with("SUBSCRIBE")) {
    auto word = name;
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
    std::string all;
    for (std::size_t i = 1; i < command.size(); ++i)
      all += said_unasked(client.resp3, {wire::text(word), wire::text(command[i]), wire::integer(1)});
    return all;
  }
  return std::nullopt;
}

bool FakeRedis::say(Client& client, const std::string& bytes) {
  client.unsent += bytes;
  while (!client.unsent.empty()) {
    const auto sent =
        ::send(client.fd, client.unsent.data(), client.unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (sent < 0) {
      ::close(client.fd);
      return false;
    }
    client.unsent.erase(0, static_cast<std::size_t>(sent));
  }
  client.unsent = client.endless;  // sends more when the socket takes more
  return true;
}

}  // namespace rlock::test
