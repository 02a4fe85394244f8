#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/process.h"

namespace rlock::test {

/// The bytes of replies, for a FakeRedis to send.
namespace wire {
std::string integer(long long number);                     ///< ":3\r\n"
std::string text(const std::string& bytes);                ///< "$1\r\nv\r\n"
std::string status(const std::string& word);               ///< "+OK\r\n"
std::string error(const std::string& text);                ///< "-ERR ...\r\n"
std::string nil();                                         ///< "$-1\r\n"
std::string array(const std::vector<std::string>& items);  ///< an array of encoded items
std::string push(const std::vector<std::string>& items);   ///< RESP3
std::string message(const std::string& channel, const std::string& payload);
inline const std::string kSilence;            ///< no answer, now or ever
inline const std::string kClose = "\1close";  ///< closes the connection instead of answering
inline const std::string kReset = "\1reset";  ///< resets the connection (TCP) instead of answering
/// An answer without an end: `first`, then `rest` again and again until the connection is closed.
std::string endless(const std::string& first, const std::string& rest);
}  // namespace wire

/// A scripted server at the level of the wire: a thread that listens, takes commands and sends the answers
/// that the test gave it. By default it answers HELLO, CLIENT, AUTH, SELECT, SUBSCRIBE, UNSUBSCRIBE, INFO and
/// PING by itself. Other commands get the next answer of the queue, or wait for one.
///
/// It is also a recorder: received() has all bytes that arrived.
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

  /// Adds an answer for the next command without one of its own (see on()). It is encoded: wire::integer(1).
  void answer(std::string bytes);

  /// Sets the answer to every command with this name (its first word, upper case).
  void on(const std::string& name, std::string bytes);

  /// Sets a function that decides the answer. It is called on the server's thread. If it returns nothing, the
  /// usual answer follows.
  using Decide = std::function<std::optional<std::string>(const Words& command)>;
  void decide(Decide decide);

  /// Sends these bytes to every connection now.
  void announce(const std::string& bytes);

  /// Sends these bytes to every new connection before its first command.
  void greet_with(std::string bytes);

  /// Ends every connection; new ones are accepted.
  void hang_up();

  /// The commands so far, including greetings and subscriptions.
  std::vector<Words> log() const;

  /// The number of commands with this name.
  std::size_t count(const std::string& name) const;

  std::string received() const;     ///< all bytes of all connections, in order of arrival
  std::size_t connections() const;  ///< number of connections ever made
  std::size_t open() const;         ///< number of connections now

 private:
  struct Client {
    int fd;
    std::string unread;
    std::string unsent;
    std::string endless{};  ///< if not empty, sent again and again
    bool resp3 = false;
    std::deque<Words> waiting;  ///< commands that wait for an answer in the queue
  };

  void serve();
  void accept();
  bool listen_to(Client& client);  ///< false: the client is gone
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
  std::list<Client> clients_;
  std::deque<std::string> answers_;
  std::map<std::string, std::string> fixed_;
  Decide decide_;
  std::string greeting_;
  std::vector<Words> log_;
  std::string received_;
  std::size_t connections_ = 0;

  std::thread thread_;
};

/// Takes one RESP command from the front of `bytes`. Empty: it is incomplete.
std::optional<Words> take_command(std::string& bytes);

}  // namespace rlock::test
