#include "support/tcp_proxy.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "support/resp_client.h"

namespace rlock::test {
namespace {

constexpr std::size_t kRemembered = 1 << 20;

}  // namespace

TcpProxy::TcpProxy(std::string server, std::uint16_t port)
    : server_(std::move(server)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  const auto listener = listen_on_loopback(port);
  listener_ = listener.fd;
  port_ = listener.port;
  thread_ = std::thread{[this] { serve(); }};
}

TcpProxy::~TcpProxy() {
  ends_ = true;
  wake();
  thread_.join();
  for (auto& session : sessions_) end(session, false);
  if (listener_ >= 0) ::close(listener_);
  ::close(wake_);
}

void TcpProxy::wake() const {
  const std::uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
}

void TcpProxy::change(const std::vector<Way>& ways, void (*apply)(Fault&, std::size_t), std::size_t number) {
  const std::lock_guard lock{mutex_};
  for (const Way way : ways) apply(fault(way), number);
  wake();
}

void TcpProxy::pass() {
  const std::lock_guard lock{mutex_};
  up_ = down_ = {};
  garbage_.reset();
  flood_.reset();
  answers_left_.reset();
  frozen_ = silent_ = false;
  if (listener_ < 0) listener_ = listen_on_loopback(port_).fd;
  wake();
}

void TcpProxy::delay(Way way, std::chrono::milliseconds time) {
  change(
      {way}, [](Fault& f, std::size_t ms) { f.delay = std::chrono::milliseconds{ms}; },
      static_cast<std::size_t>(time.count()));
}

void TcpProxy::drop(Way way) {
  change({way}, [](Fault& f, std::size_t) { f.drop = true; });
}

void TcpProxy::bytewise(Way way) {
  change({way}, [](Fault& f, std::size_t) { f.bytewise = true; });
}

void TcpProxy::half_close(Way way) {
  change({way}, [](Fault& f, std::size_t) { f.half_close = true; });
}

void TcpProxy::cut_after(Way way, std::size_t bytes) {
  change({way}, [](Fault& f, std::size_t n) { f.left = n, f.by_reset = false; }, bytes);
}

void TcpProxy::reset_after(Way way, std::size_t bytes) {
  change({way}, [](Fault& f, std::size_t n) { f.left = n, f.by_reset = true; }, bytes);
}

void TcpProxy::garbage(std::string bytes) {
  const std::lock_guard lock{mutex_};
  garbage_ = std::move(bytes);
}

void TcpProxy::flood(std::string head) {
  const std::lock_guard lock{mutex_};
  flood_ = std::move(head);
}

void TcpProxy::drop_answers_after(std::size_t pieces) {
  const std::lock_guard lock{mutex_};
  answers_left_ = pieces;
}

void TcpProxy::freeze() {
  const std::lock_guard lock{mutex_};
  frozen_ = true;
  wake();
}

void TcpProxy::silence() {
  const std::lock_guard lock{mutex_};
  silent_ = true;
}

void TcpProxy::refuse() {
  const std::lock_guard lock{mutex_};
  if (listener_ >= 0) {
    // The poll() of our thread keeps a closed socket open until it returns; shutdown() refuses at once.
    ::shutdown(listener_, SHUT_RDWR);
    ::close(listener_);
  }
  listener_ = -1;
  wake();
}

void TcpProxy::forget() {
  const std::lock_guard lock{mutex_};
  for (auto& session : sessions_) session.up.torn = session.down.torn = true;
}

void TcpProxy::hang_up() {
  const std::lock_guard lock{mutex_};
  for (auto& session : sessions_) end(session, false);
  wake();
}

void TcpProxy::reset_all() {
  const std::lock_guard lock{mutex_};
  for (auto& session : sessions_) end(session, true);
  wake();
}

std::size_t TcpProxy::connections() const {
  const std::lock_guard lock{mutex_};
  return connections_;
}

std::size_t TcpProxy::open() const {
  const std::lock_guard lock{mutex_};
  return static_cast<std::size_t>(std::count_if(sessions_.begin(), sessions_.end(),
                                                [](const Session& session) { return !session.gone; }));
}

std::size_t TcpProxy::bytes(Way way) const {
  const std::lock_guard lock{mutex_};
  return way == Way::to_server ? up_bytes_ : down_bytes_;
}

std::string TcpProxy::sent_by_clients() const {
  const std::lock_guard lock{mutex_};
  return sent_;
}

void TcpProxy::obey(const std::string& line) {
  std::istringstream words{line};
  std::string verb, way_name;
  words >> verb;
  const auto way = [&] {
    words >> way_name;
    if (way_name == "to_server") return Way::to_server;
    if (way_name == "to_client") return Way::to_client;
    throw std::invalid_argument{"not to_server or to_client: " + line};
  };
  const auto number = [&] {
    std::size_t value = 0;
    if (!(words >> value)) throw std::invalid_argument{"a number is missing: " + line};
    return value;
  };
  const auto rest = [&] {
    std::string text;
    std::getline(words >> std::ws, text);
    return text + "\r\n";
  };
  const std::map<std::string, std::function<void()>> verbs{
      {"pass", [&] { pass(); }},
      {"delay",
       [&] {
         const auto w = way();
         delay(w, std::chrono::milliseconds{number()});
       }},
      {"drop", [&] { drop(way()); }},
      {"bytewise", [&] { bytewise(way()); }},
      {"half_close", [&] { half_close(way()); }},
      {"cut_after",
       [&] {
         const auto w = way();
         cut_after(w, number());
       }},
      {"reset_after",
       [&] {
         const auto w = way();
         reset_after(w, number());
       }},
      {"drop_answers_after", [&] { drop_answers_after(number()); }},
      {"garbage", [&] { garbage(rest()); }},
      {"flood", [&] { flood(rest()); }},
      {"freeze", [&] { freeze(); }},
      {"silence", [&] { silence(); }},
      {"refuse", [&] { refuse(); }},
      {"forget", [&] { forget(); }},
      {"hang_up", [&] { hang_up(); }},
      {"reset_all", [&] { reset_all(); }},
  };
  const auto found = verbs.find(verb);
  if (found == verbs.end()) throw std::invalid_argument{"not a fault: " + line};
  found->second();
}

int TcpProxy::wait_time() const {
  auto next = SteadyClock::time_point::max();
  for (const auto& session : sessions_)
    for (const Flow* flow : {&session.up, &session.down})
      if (!flow->pieces.empty()) next = std::min(next, flow->pieces.front().due);
  if (next == SteadyClock::time_point::max()) return -1;
  const auto rest = std::chrono::ceil<std::chrono::milliseconds>(next - SteadyClock::now()).count();
  return static_cast<int>(std::max<long>(rest, 0));
}

void TcpProxy::serve() {
  while (!ends_) {
    std::vector<pollfd> watched{{wake_, POLLIN, 0}};
    int timeout = -1;
    {
      const std::lock_guard lock{mutex_};
      std::erase_if(sessions_, [](const Session& session) { return session.gone; });
      watched.push_back({listener_, POLLIN, 0});
      for (const auto& session : sessions_) {
        const auto interest = [&](const Flow& flow) {
          return static_cast<short>(frozen_ || flow.ended ? 0 : POLLIN);
        };
        watched.push_back({frozen_ ? -1 : session.client, interest(session.up), 0});
        watched.push_back({frozen_ ? -1 : session.server, interest(session.down), 0});
      }
      if (!frozen_) timeout = flood_ ? 1 : wait_time();
    }
    ::poll(watched.data(), watched.size(), timeout);

    const std::lock_guard lock{mutex_};
    std::uint64_t count = 0;
    (void)!::read(wake_, &count, sizeof count);
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      auto& session = sessions_[i];
      if (session.gone || frozen_) continue;
      if (watched[2 + 2 * i].revents) read_from(session, Way::to_server);
      if (!session.gone && watched[3 + 2 * i].revents) read_from(session, Way::to_client);
      for (const Way way : {Way::to_server, Way::to_client})
        if (!session.gone) write_to(session, way);
    }
    if (watched[1].revents) accept();
  }
}

void TcpProxy::accept() {
  const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (client < 0) return;
  ++connections_;
  const int yes = 1;
  ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  const int server = silent_ ? -1 : connect_to(server_);
  if (server < 0 && !silent_) return reset(client);
  sessions_.push_back({.client = client, .server = server, .up = {}, .down = {}});
}

void TcpProxy::read_from(Session& session, Way way) {
  auto& flow = way == Way::to_server ? session.up : session.down;
  const int from = way == Way::to_server ? session.client : session.server;
  if (flow.ended) return;
  char buffer[65536];
  const auto got = ::recv(from, buffer, sizeof buffer, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got < 0) return end(session, true);
  if (got == 0) {
    flow.ended = true;
    return;
  }
  take(session, way, {buffer, static_cast<std::size_t>(got)});
}

void TcpProxy::take(Session& session, Way way, std::string bytes) {
  const auto& what = fault(way);
  const auto due = SteadyClock::now() + what.delay;
  auto& flow = way == Way::to_server ? session.up : session.down;
  if (way == Way::to_server) {
    up_bytes_ += bytes.size();
    sent_.append(bytes, 0, kRemembered - sent_.size());
  } else {
    down_bytes_ += bytes.size();
    if (garbage_) bytes = *std::exchange(garbage_, std::nullopt);
    if (flood_ && !std::exchange(session.flooded, true)) bytes = *flood_;
    if (answers_left_ && *answers_left_ == 0) flow.torn = true;
    if (answers_left_ && *answers_left_ > 0) --*answers_left_;
  }
  flow.torn = flow.torn || what.drop;
  if (flow.torn) return;
  if (!what.bytewise) {
    flow.pieces.push_back({due, std::move(bytes)});
    return;
  }
  for (const char byte : bytes) flow.pieces.push_back({due, std::string(1, byte)});
}

void TcpProxy::write_to(Session& session, Way way) {
  auto& what = fault(way);
  auto& flow = way == Way::to_server ? session.up : session.down;
  const int to = way == Way::to_server ? session.server : session.client;
  if (to < 0) return flow.pieces.clear();
  if (session.flooded && way == Way::to_client && flow.pieces.empty())
    flow.pieces.push_back({SteadyClock::now(), std::string(1 << 16, '\0')});
  while (!flow.pieces.empty() && flow.pieces.front().due <= SteadyClock::now()) {
    auto& bytes = flow.pieces.front().bytes;
    const auto size = what.left ? std::min(*what.left, bytes.size()) : bytes.size();
    const auto sent = ::send(to, bytes.data(), size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EAGAIN) {
      flow.pieces.front().due = SteadyClock::now() + std::chrono::milliseconds{1};
      return;
    }
    if (sent < 0) return end(session, true);
    if (what.left) *what.left -= static_cast<std::size_t>(sent);
    bytes.erase(0, static_cast<std::size_t>(sent));
    if (bytes.empty()) flow.pieces.pop_front();
    if (what.left && *what.left == 0) return end(session, what.by_reset);
  }
  if (what.left && *what.left == 0) return end(session, what.by_reset);
  if ((flow.ended && flow.pieces.empty()) || what.half_close) {
    if (!std::exchange(flow.shut, true)) ::shutdown(to, SHUT_WR);
  }
  if (session.up.shut && session.down.shut && session.up.ended && session.down.ended) end(session, false);
}

void TcpProxy::end(Session& session, bool by_reset) {
  if (std::exchange(session.gone, true)) return;
  for (const int fd : {session.client, session.server}) {
    if (fd < 0) continue;
    if (by_reset)
      reset(fd);
    else
      ::close(fd);
  }
}

}  // namespace rlock::test
