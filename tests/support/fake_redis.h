#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/process.h"

namespace rlock::test {

/// Bytes as a server writes them, to be said by a FakeRedis.
namespace wire {
std::string integer(long long number);                     ///< ":3\r\n"
std::string text(const std::string& bytes);                ///< "$1\r\nv\r\n"
std::string status(const std::string& word);               ///< "+OK\r\n"
std::string error(const std::string& text);                ///< "-ERR ...\r\n"
std::string nil();                                         ///< "$-1\r\n"
std::string array(const std::vector<std::string>& items);  ///< of things that are encoded already
std::string push(const std::vector<std::string>& items);   ///< RESP3
std::string message(const std::string& channel, const std::string& payload);
inline const std::string kSilence;            ///< no answer, now or ever
inline const std::string kClose = "\1close";  ///< instead of an answer, the connection is closed
inline const std::string kReset = "\1reset";  ///< instead of an answer, the connection is reset (TCP)
/// An answer that has no end: `first`, then `rest` again and again until the connection is closed.
std::string endless(const std::string& first, const std::string& rest);
}  // namespace wire

/// A scripted stand-in for a server, at the level of the wire: a thread that listens, takes commands and says
/// what it was told to say. HELLO, CLIENT, AUTH, SELECT, SUBSCRIBE, UNSUBSCRIBE, INFO and PING are answered
/// by themselves unless something else was asked for; everything else gets what stands next in the queue, or
/// waits until something does.
///
/// Also a recorder: received() has every byte that came in.
class FakeRedis {
 public:
  enum class Transport { unix_socket, tcp };

  explicit FakeRedis(Transport transport = Transport::unix_socket);
  ~FakeRedis();
  FakeRedis(const FakeRedis&) = delete;
  FakeRedis& operator=(const FakeRedis&) = delete;

  std::string socket() const { return directory_ / "redis.sock"; }  ///< REQUIRES: unix_socket
  std::uint16_t port() const noexcept { return port_; }             ///< 0: unix_socket
  std::string url() const;

  /// The next answer to a command that has none of its own (see on()). Encoded: wire::integer(1).
  void answer(std::string bytes);

  /// The answer to every command with this name (its first word, upper case), from now on.
  void on(const std::string& name, std::string bytes);

  /// Or decided by a function, called on the thread of the server: nothing means "as if this were not here".
  using Decide = std::function<std::optional<std::string>(const Words& command)>;
  void decide(Decide decide);

  /// Said to every connection at once, without being asked.
  void announce(const std::string& bytes);

  /// What every connection gets to read as soon as it is made, before it has asked anything.
  void greet_with(std::string bytes);

  /// Ends every connection that is there; new ones are welcome.
  void hang_up();

  /// The commands so far, greetings and subscriptions included.
  std::vector<Words> log() const;

  /// How many commands with this name came.
  std::size_t count(const std::string& name) const;

  std::string received() const;     ///< every byte of every connection, in the order it came
  std::size_t connections() const;  ///< how many were ever made
  std::size_t open() const;         ///< how many are there now

 private:
  struct Client {
    int fd;
    std::string unread;
    std::string unsent;
    std::string endless{};  ///< said again and again, once it is not empty
    bool resp3 = false;
    std::deque<Words> waiting;  ///< for something in the queue
  };

  void serve();
  void accept();
  bool listen_to(Client& client);  ///< false: it is gone
  void reply_to_waiting(Client& client);
  void begin_endless(Client& client, const std::string& bytes);
  bool say(Client& client, const std::string& bytes);
  std::optional<std::string> habit(Client& client, const Words& command) const;
  std::optional<std::string> answer_to(Client& client, const Words& command);
  void wake() const;

  TempDir directory_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  int wake_ = -1;
  std::atomic<bool> ends_ = false;

  mutable std::mutex mutex_;
  std::vector<Client> clients_;
  std::deque<std::string> answers_;
  std::map<std::string, std::string> fixed_;
  Decide decide_;
  std::string greeting_;
  std::vector<Words> log_;
  std::string received_;
  std::size_t connections_ = 0;

  std::thread thread_;
};

/// Takes one RESP command from the front of `bytes`; nothing while it is incomplete.
std::optional<Words> take_command(std::string& bytes);

}  // namespace rlock::test
