#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "redis/connection/server_identity.h"
#include "redis/connection/target.h"
#include "redis/failure.h"
#include "redis/reply.h"

namespace rlock {

/// The words of a Redis command: its name, then its arguments.
using CommandWords = std::vector<std::string>;

/// The first words of a connection: user and password, protocol, database.
struct Greeting {
  std::string user;
  std::optional<std::string> password;
  bool resp3 = true;
  Meant meant{};            ///< what the URL says of the server
  bool ask_run_id = false;  ///< ask for the run id, last and in the same write; RESP2 asks anyway
  /// A call on the previous connection was given up, and may still be carried out.
  bool after_silence = false;
  bool to_known = false;  ///< the server has answered a greeting before
};

/// The greeting of one connection, as a state machine. It decides which commands to write, what the replies
/// mean, and whether the connection may be used. Replies go in and commands come out; it knows neither socket
/// nor clock.
class Handshake {
 public:
  /// `address` and `tls` are for the URL in messages about a server of another kind.
  Handshake(Greeting greeting, Address address, bool tls);

  const Greeting& greeting() const noexcept { return greeting_; }

  /// The commands of the greeting, in order. Each gets one reply. Call begin() only once.
  [[nodiscard]] std::vector<CommandWords> begin();

  /// Must the greeting be answered before calls are written? Yes if it names a user, a password or a database.
  /// Otherwise we could acquire a lock as the wrong user or in the wrong database.
  [[nodiscard]] bool comes_alone() const noexcept;

  /// Takes the reply to the next command, and returns the commands to write now. These are none, or a
  /// question to a server of another kind.
  [[nodiscard]] std::vector<CommandWords> accept(Reply reply);

  /// The connection ended before the server sent anything. Returns `why`, with a hint without TLS.
  [[nodiscard]] Failure hung_up(Failure why);

  /// At most one of accepted(), unexpected() and failure() is true. If none is, more replies must come.
  bool accepted() const noexcept { return state_ == State::accepted; }
  /// The server is not what its URL says, and was asked for facts that help to name the right URL.
  bool unexpected() const noexcept { return state_ == State::unexpected; }
  const std::optional<Failure>& failure() const noexcept { return failure_; }

  const ServerIdentity& identity() const noexcept { return identity_; }  ///< as far as the server has told it

  /// Should the next connection greet in RESP2? `certain`: the server said that it does not know HELLO 3.
  /// `suspected`: it hung up on HELLO, as some old servers and proxies do.
  enum class Resp2 { no, suspected, certain };
  Resp2 wants_resp2() const noexcept { return wants_resp2_; }

  enum class Step { auth, hello, name, select, run_id, mode, role, unexpected };

 private:
  enum class State { waiting, accepted, unexpected, failed };

  void fail(Failure why);
  void refused(Step step, const Reply& error);
  [[nodiscard]] std::vector<CommandWords> ask_unexpected();
  bool greeting_goes_on() const;

  const Greeting greeting_;
  const Address address_;
  const bool tls_;
  State state_ = State::waiting;
  std::deque<Step> unanswered_;
  ServerIdentity identity_;
  std::optional<Failure> failure_;
  std::optional<Failure> asked_for_no_password_;  ///< fails the greeting when the server has said what it is
  Resp2 wants_resp2_ = Resp2::no;
};

}  // namespace rlock
