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

/// Stands between rlock and a server and does to the bytes what networks do. Everything can be changed at any
/// time; a fault is in force for the connections that are there and for those that come, until pass().
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

  void pass();                                          ///< no fault any more; what a fault has eaten is gone
  void delay(Way way, std::chrono::milliseconds time);  ///< every byte comes so much later
  void drop(Way way);      ///< bytes vanish, and all behind them on the same connection, also after pass()
  void bytewise(Way way);  ///< one byte a packet
  void cut_after(Way way, std::size_t bytes);    ///< so many more bytes, then FIN to both
  void reset_after(Way way, std::size_t bytes);  ///< so many more bytes, then RST to both
  void half_close(Way way);                      ///< FIN in this direction only
  void garbage(std::string bytes);               ///< the client gets these instead of its next answer
  void flood(std::string head);                  ///< the client gets `head` and then zeros without end
  void freeze();                                 ///< nothing is read from anybody; connections are accepted
  void silence();                                ///< new connections are accepted and lead nowhere
  void refuse();                                 ///< the port is closed; connections that are there stay
  void forget();     ///< connections that are there lead nowhere from now on; new ones do
  void hang_up();    ///< ends every connection that is there: FIN
  void reset_all();  ///< RST

  /// Lets `pieces` writes of the server pass and then does what
  /// drop(to_client) does: "the answer to the third question is lost".
  void drop_answers_after(std::size_t pieces);

  std::size_t connections() const;      ///< how many were ever accepted
  std::size_t open() const;             ///< how many are there now
  std::size_t bytes(Way way) const;     ///< how many came, whatever became of them
  std::string sent_by_clients() const;  ///< every byte that clients sent (at most the first MiB)

  /// A command in words, as the program tcp_proxy reads them:
  /// "delay to_client 100", "pass", "garbage HTTP/1.1".
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
    bool ended = false;  ///< the source said FIN
    bool shut = false;   ///< and so did we
    bool torn = false;   ///< bytes were lost: what comes behind them makes no sense and is lost, too
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
    std::optional<std::size_t> left;  ///< bytes until the end of the connection
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
