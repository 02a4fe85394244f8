#pragma once

#include <string>

#include "base/error.h"
#include "redis/reply.h"

namespace rlock {

/// Why something failed, in places where failure is normal: an Error that was not thrown.
struct Failure {
  Error::Kind kind = Error::unreachable;
  std::string text;
  bool answered = false;  ///< the server has answered, so its URL is right; the text says the remedy
  /// The kind is `unreachable`, but waiting does not mend it. The program at the address speaks no TLS or is no
  /// Redis server, or one of several servers refuses us.
  bool lasts = false;

  /// A person must mend something, so --if-unreachable does not hide it.
  bool needs_a_person() const { return kind != Error::unreachable || lasts; }

  [[noreturn]] void fly() const { throw Error{kind, text}; }
};

/// The same failure; the text begins with the server that it is about.
Failure of_server(const std::string& server, Failure why);

/// A server was asked and has not replied, for no known reason.
inline Failure no_answer() { return {Error::unreachable, "no answer"}; }

/// Translates an error reply for people and into an error kind. NOAUTH, WRONGPASS, NOPERM and forbidden
/// commands in scripts are `denied`. WRONGTYPE is `wrong_type`. LOADING, READONLY, MISCONF, OOM and others
/// are `unreachable`. The text has the reason, the remedy and the server's own text.
Failure failure_of(const Reply& error);

/// Is this the error of a server that cannot answer now, but may soon?
bool is_passing(const Reply& error);

}  // namespace rlock
