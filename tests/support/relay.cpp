#include "support/relay.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "scripts.h"
#include "support/resp_client.h"

namespace rlock::test {
namespace {

/// "lock/release" for the SHA-1 or the source of a script, else the command itself.
std::string name_of(const Words& command) {
  if (command.front() != "EVALSHA" && command.front() != "EVAL") return command.front();
  for (const Script* script : scripts::all)
    if (command.at(1) == script->sha1 || command.at(1) == script->source) return std::string{script->name};
  return command.front();
}

std::string receive(int fd, std::size_t count) {
  std::string bytes(count, '\0');
  if (::recv(fd, bytes.data(), count, MSG_WAITALL) != static_cast<ssize_t>(count))
    throw std::runtime_error{"the server behind the relay is gone"};
  return bytes;
}

/// Reads the bytes of one whole answer.
std::string receive_answer(int fd) {
  std::string line;
  while (!line.ends_with("\r\n")) line += receive(fd, 1);
  const bool has_length = line.front() == '$' || line.front() == '*';
  const long long length = has_length ? std::stoll(line.substr(1)) : 0;
  if (line.front() == '$' && length >= 0) line += receive(fd, static_cast<std::size_t>(length) + 2);
  if (line.front() == '*')
    for (long long item = 0; item < length; ++item) line += receive_answer(fd);
  return line;
}

}  // namespace

Relay::Relay(const RedisServer& server) : server_(connect_to(server.where())) {
  front_.decide([this](const Words& command) { return answer(command); });
}

Relay::~Relay() {
  front_.decide({});
  ::close(server_);
}

void Relay::say_instead(const std::string& name, std::string bytes, int times) {
  const std::lock_guard lock{mutex_};
  lies_[name] = {std::move(bytes), times};
}

void Relay::tell_the_truth() {
  const std::lock_guard lock{mutex_};
  lies_.clear();
}

std::set<std::string> Relay::asked() const {
  const std::lock_guard lock{mutex_};
  return asked_;
}

std::set<std::string> Relay::forget_asked() {
  const std::lock_guard lock{mutex_};
  return std::exchange(asked_, {});
}

std::optional<std::string> Relay::answer(const Words& command) {
  const std::lock_guard lock{mutex_};
  const std::string name = name_of(command);
  asked_.insert(name);
  static const std::set<std::string> of_a_connection{"HELLO", "AUTH", "CLIENT", "SELECT"};
  const bool by_itself = of_a_connection.contains(name) || name.ends_with("SUBSCRIBE");
  const std::optional<std::string> truth = by_itself ? std::nullopt : std::optional{ask_server(command)};
  const auto lie = lies_.find(name);
  if (lie == lies_.end() || lie->second.times == 0) return truth;
  if (truth && truth->starts_with("-NOSCRIPT")) return truth;  // the client sends it again with the source
  --lie->second.times;
  return lie->second.bytes;
}

std::string Relay::ask_server(const Words& command) const {
  const std::string bytes = encoded(command);
  if (::send(server_, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error{"the server behind the relay is gone"};
  return receive_answer(server_);
}

}  // namespace rlock::test
