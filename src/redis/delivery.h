#pragma once

#include <utility>
#include <vector>

#include "base/time.h"
#include "redis/call.h"
#include "redis/connection_number.h"

namespace rlock {

/// The kernel sends unconfirmed bytes again for this long, so a copy of a call can arrive so late, also from an
/// abandoned connection.
constexpr Milliseconds kUnconfirmed{30000};

/// How a Call is delivered. By default it goes to every node, once.
struct Delivery {
  /// Is the call sent again if its connection fails?
  enum class Retry {
    never,           ///< no: the failure becomes the vote
    until_deadline,  ///< yes; before the first contact only with Options::retry_first_contact
    from_the_start,  ///< yes: a node that has never answered may have got an earlier call, too
  } retry = Retry::never;

  /// Is a script sent with its source (EVAL) if its connection has not carried it yet? If not, it is sent by its
  /// hash, and with its source only after NOSCRIPT.
  enum class Source {
    on_request,  ///< no
    to_several,  ///< yes if there are several nodes: a quorum must not wait for NOSCRIPT
    always,      ///< yes: the call must work even if nobody reads the reply NOSCRIPT
  } source = Source::on_request;

  /// Calls pipelined behind this one, in the same write; their replies are ignored.
  std::vector<Call> followers{};

  /// The nodes that get the call; empty: all. The votes of the others are failures from the start.
  std::vector<bool> only_nodes{};

  void send_only_to(std::size_t node, std::size_t nodes) {
    only_nodes.assign(nodes, false);
    only_nodes[node] = true;
  }
  bool goes_to(std::size_t node) const { return only_nodes.empty() || only_nodes[node]; }

  /// none: any connection. Otherwise only this one (Vote::connection), because WAIT confirms only the writes of its own
  /// connection.
  ConnectionNumber only_connection = ConnectionNumber::none;

  /// Time that the server may take in addition to Timeouts::command, because WAIT waits.
  Milliseconds extra_time{0};
};

/// The call is tried again until the deadline. Everything else is as by default.
inline Delivery with_retries(std::vector<Call> followers = {}) {
  return {.retry = Delivery::Retry::until_deadline, .followers = std::move(followers)};
}

/// For an undo, which must reach each node that may have received the call to undo. A node that has not answered that
/// call may not answer NOSCRIPT either, and may read the undo only after this process has ended.
inline Delivery for_undo(std::vector<Call> followers = {}) {
  return {.retry = Delivery::Retry::from_the_start,
          .source = Delivery::Source::always,
          .followers = std::move(followers)};
}

}  // namespace rlock
