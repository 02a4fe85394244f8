#include "support/redis_server.h"
#include "support/contains.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <sstream>
#include <stdexcept>

#include "support/eventually.h"

namespace rlock::test {
namespace {

std::string server_program() {
  const char* named = std::getenv("RLOCK_TEST_SERVER");
  return named && *named ? named : "redis-server";
}

std::string configuration(const RedisServer& server, const std::vector<std::string>& lines) {
  std::ostringstream text;
  text << "port " << server.port() << "\nbind 127.0.0.1\nunixsocket " << server.socket()
       << "\nunixsocketperm 700\n"
       << "dir " << server.directory() << "\nlogfile " << server.directory() << "/log\n"
       << "daemonize no\nsave \"\"\nappendonly no\nprotected-mode no\n";
  if (RedisServer::version() >= 70000) text << "enable-debug-command yes\nenable-protected-configs yes\n";
  for (const auto& line : lines) text << line << '\n';
  return text.str();
}

}  // namespace

std::uint16_t free_port() {
  static std::mt19937 random{std::random_device{}()};
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const auto port = static_cast<std::uint16_t>(std::uniform_int_distribution{12'000, 31'999}(random));
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) throw std::runtime_error{"no socket to find a free port"};
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    const bool is_free = ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    if (is_free) return port;
  }
  throw std::runtime_error{"no free port on loopback"};
}

RedisServer::RedisServer() : RedisServer(Options{}) {}

RedisServer::RedisServer(const Options& options) : options_(options) {
  // A free port may be taken before the server binds it: then try another.
  for (int attempt = 0;; ++attempt) try {
      if (options_.tcp) port_ = free_port();
      start(Until::ready);
      return;
    } catch (const std::runtime_error&) {
      if (!options_.tcp || attempt == 3) throw;
    }
}

int RedisServer::version() {
  static const int version = [] {
    const auto text = output_of({server_program(), "--version"});
    int parts[3] = {7, 2, 4};  // every Valkey is compatible with this version
    const auto at = text.find("v=");
    if (!text.starts_with("Valkey") && at != std::string::npos)
      std::sscanf(text.c_str() + at, "v=%d.%d.%d", &parts[0], &parts[1], &parts[2]);
    return parts[0] * 10000 + parts[1] * 100 + parts[2];
  }();
  return version;
}

void RedisServer::start(Until until) {
  ::unlink(socket().c_str());
  const auto conf = directory_ / "redis.conf";
  write_file(conf, configuration(*this, options_.config));
  process_.emplace(Words{server_program(), conf}, Process::Options{.own_session = true});
  const auto there = [&] { return !process_->running() || answers(until); };
  if (!eventually(there, 10s) || !process_->running())
    throw std::runtime_error{server_program() + " does not start: " + process_->out() +
                             read_file(directory_ / "log")};
}

bool RedisServer::answers(Until until) const {
  const int fd = connect_to(where());
  if (fd < 0) return false;
  ::close(fd);
  return until == Until::listens || !RespClient{where()}.ask({"PING"}).starts_with("(error) LOADING");
}

std::string RedisServer::url() const { return "unix://" + socket(); }
std::string RedisServer::tcp_url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

std::string RedisServer::cli(const Words& words) {
  if (!client_) client_ = std::make_unique<RespClient>(where());
  try {
    return client_->ask(words);
  } catch (...) {
    client_.reset();  // a late reply would answer the next command
    throw;
  }
}

std::string RedisServer::keys() {
  std::istringstream all{cli({"KEYS", "*"})};
  std::vector<std::string> names;
  for (std::string name; std::getline(all, name);)
    if (!name.starts_with("rlock:history:")) names.push_back(name);
  std::sort(names.begin(), names.end());
  std::string text;
  for (const auto& name : names) text += name + "\n";
  return text;
}

int RedisServer::listeners(const std::string& channel) {
  const auto answer = cli({"PUBSUB", "NUMSUB", channel});
  return std::stoi(answer.substr(answer.rfind('\n') + 1));
}

void RedisServer::freeze() {
  process_->signal(SIGSTOP);
  eventually([&] { return state_of(pid()) == 'T'; });
}

void RedisServer::thaw() { process_->signal(SIGCONT); }

void RedisServer::kill() {
  client_.reset();
  process_->signal(SIGKILL);
  process_->wait_status();
}

void RedisServer::restart(Until until) {
  kill();
  start(until);
}

Process::Options RedisServer::environment() const {
  auto options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = url();
  options.env["HOME"] = directory();
  return options;
}

Monitor::Monitor(const RedisServer& server) : client_(server.where()) { client_.ask({"MONITOR"}); }

const std::vector<std::string>& Monitor::commands() {
  while (auto line = client_.receive_within(100ms)) {
    const auto bracket = line->find("] ");
    if (bracket == std::string::npos || contains(*line, " lua] ")) continue;
    commands_.push_back(line->substr(bracket + 2));
  }
  return commands_;
}

}  // namespace rlock::test
