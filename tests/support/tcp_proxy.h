#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/sockets.h"

namespace rlock::test {

/// A proxy between rlock and a server that makes faults like a network. Everything can change at any time. A
/// fault affects current and new connections until pass().
class TcpProxy {
 public:
  /// "unix:/path" or "host:port" of the server. Listens on a free port of loopback, or on `port`.
  explicit TcpProxy(std::string server, std::uint16_t port = 0);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  std::uint16_t port() const noexcept { return port_; }
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

  enum class Way { to_server, to_client };

  void pass();                                          ///< ends all faults; lost bytes stay lost
  void delay(Way way, std::chrono::milliseconds time);  ///< delays every byte by this time
  void drop(Way way);      ///< drops all bytes from now on; these connections stay broken after pass()
  void bytewise(Way way);  ///< one byte a packet
  void cut_after(Way way, std::size_t bytes);    ///< after this many bytes, FIN to both sides
  void reset_after(Way way, std::size_t bytes);  ///< after this many bytes, RST to both sides
  void half_close(Way way);                      ///< FIN in this direction only
  void garbage(std::string bytes);               ///< the client gets these bytes instead of its next reply
  void flood(std::string head);                  ///< the client gets `head`, then zeros without end
  void freeze();                                 ///< reads nothing; connections are accepted
  void silence();                                ///< new connections are accepted, but lead nowhere
  void refuse();                                 ///< closes the port; current connections stay
  void forget();     ///< current connections lead nowhere from now on; new ones work
  void hang_up();    ///< ends every current connection with FIN
  void reset_all();  ///< ends every current connection with RST

  /// Passes this many writes of the server, then does drop(to_client). After 2, the reply to the third command
  /// is lost.
  void drop_answers_after(std::size_t pieces);

  std::size_t connections() const;      ///< number of accepted connections
  std::size_t open() const;             ///< number of connections now
  std::size_t bytes(Way way) const;     ///< number of bytes that arrived, passed on or not
  std::string sent_by_clients() const;  ///< all bytes of the clients (the first MiB)

  /// Runs a command in the form of the program tcp_proxy: "delay to_client 100", "pass", "garbage HTTP/1.1".
  /// Throws std::invalid_argument for anything else.
  void obey(const std::string& line);

 private:
  using SteadyClock = std::chrono::steady_clock;
  struct Piece {
    SteadyClock::time_point due;
    std::string bytes;
  };
  struct Flow {
    std::deque<Piece> pieces;
    bool ended = false;  ///< the source sent FIN
    bool shut = false;   ///< the proxy has sent FIN: it passed that of the source on, or by half_close()
    bool torn = false;   ///< bytes were lost, so all bytes behind them are dropped too
  };
  struct Session {
    int client;
    int server;  ///< -1: leads nowhere
    Flow up, down;
    bool flooded = false;
    bool gone = false;
  };
  struct Fault {
    std::chrono::milliseconds delay{0};
    bool drop = false;
    bool bytewise = false;
    bool half_close = false;
    std::optional<std::size_t> left;  ///< number of bytes until the connection ends
    bool by_reset = false;
  };

  void serve();
  void accept();
  void read_from(Session& session, Way way);
  void take(Session& session, Way way, std::string bytes);
  void write_to(Session& session, Way way);
  void end(Session& session, bool by_reset);
  void change(const std::vector<Way>& ways, void (*apply)(Fault&, std::size_t), std::size_t number = 0);
  Fault& fault(Way way) { return way == Way::to_server ? up_ : down_; }
  int wait_time() const;
  void wake() const;

  const std::string server_;
  std::uint16_t port_ = 0;
  int wake_ = -1;
  std::atomic<bool> ends_ = false;

  mutable std::mutex mutex_;
  int listener_ = -1;
  std::vector<Session> sessions_;
  Fault up_, down_;
  std::optional<std::string> garbage_;
  std::optional<std::string> flood_;
  std::optional<std::size_t> answers_left_;
  bool frozen_ = false;
  bool silent_ = false;
  std::size_t connections_ = 0;
  std::size_t up_bytes_ = 0, down_bytes_ = 0;
  std::string sent_;

  std::thread thread_;
};

}  // namespace rlock::test
