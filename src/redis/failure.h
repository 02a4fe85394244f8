#pragma once

#include <string>

#include "base/error.h"
#include "redis/reply.h"

namespace rlock {

/// Why something failed, in places where failure is normal: an Error that was not thrown.
struct Failure {
  Error::Kind kind = Error::unreachable;
  std::string text;
  /// The server sent an error that rlock knows, or granted a lock that too few replicas confirm. If the kind is
  /// `unreachable`, the URL is right.
  bool answered = false;
  /// The kind is `unreachable`, but waiting does not mend it. The program at the address speaks no TLS or is no
  /// Redis server, or one of several servers refuses us.
  bool lasts = false;

  /// A person must mend something, so --if-unreachable does not hide it.
  bool needs_a_person() const { return kind != Error::unreachable || lasts; }

  [[noreturn]] void throw_error() const { throw Error{kind, text}; }
};

/// The same failure; the text begins with the server that it is about.
Failure of_server(const std::string& server, Failure why);

/// A server was asked and has not replied, for no known reason.
inline Failure no_answer() { return {Error::unreachable, "no answer"}; }

/// The time for the answer was over.
inline Failure no_answer_in_time() { return {Error::unreachable, "no answer in time"}; }

/// The connection is gone, for a reason that is not known here.
inline Failure connection_broke() { return {Error::unreachable, "the connection broke"}; }

/// A reply is too large for our memory. Only its server is at fault, so the running command must not die of it.
inline Failure no_memory() { return {Error::unreachable, "there is no memory for what the server sends"}; }

/// Translates an error reply into an error kind and a text for people. NOAUTH, WRONGPASS, NOPERM and forbidden
/// commands in scripts are `denied`. WRONGTYPE is `wrong_type`. CROSSSLOT and unknown commands are `config`. LOADING,
/// READONLY, MISCONF, OOM and most others are `unreachable`. The text has the server's own text and, if rlock knows
/// the error, its reason and often the remedy.
Failure failure_of(const Reply& error);

/// Is this the error of a server that cannot answer now, but may soon?
bool is_passing(const Reply& error);

}  // namespace rlock
