#pragma once

#include <cstdint>
#include <vector>

#include "redis/call.h"

namespace rlock {

/// How a Call is delivered. A default one goes to every node, once.
struct Delivery {
  /// Does the call survive the failure of its connection?
  enum class Retry {
    never,           ///< the failure is the vote
    until_deadline,  ///< tried again; before the first contact only with Options::retry_first_contact
  } retry = Retry::never;

  /// When is a script sent with its source (EVAL) where its connection has not carried it yet? Else it goes
  /// by its hash, and again with its source after NOSCRIPT.
  enum class Source {
    on_request,  ///< after NOSCRIPT
    to_several,  ///< at once if there are several nodes: a quorum waits for no node that asks for the script
    always,      ///< at once: it must work even if no one reads the reply, NOSCRIPT included
  } source = Source::on_request;

  std::vector<Call> followers{};  ///< written behind it in the same write; their replies are ignored

  /// The nodes that it goes to; empty: all. The votes of the others are failures from the start.
  std::vector<bool> only_nodes{};

  /// 0: any connection. Else only the one with this number (Vote::connection): WAIT confirms the writes of
  /// its own connection.
  std::uint64_t only_connection = 0;

  /// How long the server may take beyond Timeouts::command before we call it silent: WAIT waits.
  Milliseconds extra_time{0};
};

/// Tried again until the deadline; otherwise a default one.
inline Delivery persistently(std::vector<Call> followers = {}) {
  return {.retry = Delivery::Retry::until_deadline, .followers = std::move(followers)};
}

}  // namespace rlock
