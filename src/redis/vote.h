#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "base/time.h"
#include "redis/connection_number.h"
#include "redis/failure.h"
#include "redis/reply.h"

namespace rlock {

/// What became of a call at one node.
struct Vote {
  /// The reply, or why there is none; monostate: nothing yet.
  std::variant<std::monostate, Reply, Failure> result;
  ConnectionNumber connection = ConnectionNumber::none;  ///< which answered
  TimePoint asked{};  ///< when the answered attempt began: a lease runs from here

  /// How often a server may have carried out the call. If it is more than once, an earlier copy may have changed what
  /// the reply says.
  int attempts = 0;

  bool settled() const noexcept { return !std::holds_alternative<std::monostate>(result); }

  /// Null: there is none. A good reply is no error.
  const Reply* reply() const noexcept { return std::get_if<Reply>(&result); }
  const Reply* good_reply() const noexcept { return reply() && !reply()->is_error() ? reply() : nullptr; }
  const Failure* failure() const noexcept { return std::get_if<Failure>(&result); }

  /// Why there is no good reply: the failure, or what the error says. Empty: there is one, or nothing yet.
  std::optional<Failure> trouble() const;

  /// The same for a vote without a good reply. If there is none yet, the server has not answered.
  Failure why() const { return trouble().value_or(no_answer()); }
};

/// One vote per node, in the order of the URLs.
using Votes = std::vector<Vote>;

}  // namespace rlock
