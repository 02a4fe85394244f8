#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "redis/failure.h"
#include "redis/reply.h"
#include "redis/server_identity.h"
#include "redis/target.h"

namespace rlock {

/// A command as it is written: its name, then its arguments.
using CommandWords = std::vector<std::string>;

/// What a connection says first: who we are, how we speak, which database.
struct Greeting {
  std::string user;
  std::optional<std::string> password;
  int db = 0;
  bool resp3 = true;
  Meant meant{};            ///< a server of another kind is a failure
  bool ask_run_id = false;  ///< after the rest, in the same write; in RESP2 it is asked for anyway
  bool after_silence =
      false;  ///< earlier connections were abandoned with calls that may still be carried out
};

/// The greeting of one connection, as a state machine: which commands to write, what each reply means, when
/// the connection may be used, and why it may not. Replies go in and commands come out as values: it knows
/// neither the socket nor the time.
class Handshake {
 public:
  /// `address` and `tls`: for the URL in messages about a server of another kind.
  Handshake(Greeting greeting, Address address, bool tls);

  const Greeting& greeting() const noexcept { return greeting_; }

  /// The commands of the greeting, in order. Each gets one reply. Call it once.
  [[nodiscard]] std::vector<CommandWords> begin();

  /// Must the greeting be answered before anything else is written? Else
  /// a lock could be taken as the wrong user or in the wrong database.
  [[nodiscard]] bool comes_alone() const noexcept;

  /// Takes the reply to the next command. Returns what is to be written now: the
  /// question to a server of another kind, whose answer is awaited; else nothing.
  [[nodiscard]] std::vector<CommandWords> accept(Reply reply);

  /// The connection ended before the server sent anything. Returns `why` with what that suggests.
  [[nodiscard]] Failure hung_up(Failure why);

  /// At most one of these is true. If none is, replies are awaited.
  bool accepted() const noexcept { return state_ == State::accepted; }
  bool stranger() const noexcept { return state_ == State::stranger; }  ///< it is being asked what it is
  const std::optional<Failure>& failure() const noexcept { return failure_; }

  const ServerIdentity& identity() const noexcept { return identity_; }  ///< as far as it has said who it is

  /// The next connection should greet in RESP2. `told`: the server said that it does not know HELLO 3;
  /// `suspected`: it hung up when it received it, as some old servers and proxies do.
  enum class Resp2 { no, suspected, told };
  Resp2 wants_resp2() const noexcept { return wants_resp2_; }

  enum class Step { auth, hello, name, select, run_id, mode, role, stranger };

 private:
  enum class State { waiting, accepted, stranger, failed };

  void fail(Failure why);
  void refused(Step step, const Reply& error);
  [[nodiscard]] std::vector<CommandWords> ask_stranger();
  bool greeting_goes_on() const;

  const Greeting greeting_;
  const Address address_;
  const bool tls_;
  State state_ = State::waiting;
  std::deque<Step> unanswered_;
  ServerIdentity identity_;
  std::optional<Failure> failure_;
  Resp2 wants_resp2_ = Resp2::no;
};

}  // namespace rlock
