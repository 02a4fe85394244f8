#pragma once

#include <memory>

#include "cmd/server/session.h"
#include "cmd/server/verb.h"
#include "sync/kinds/pool.h"

namespace rlock {

/// The most permits that anybody asks for: Redisson counts them in 32 bits.
constexpr std::int64_t kMostPermits = 2147483647;

/// What the verbs of the nouns `sem` and `permit` share: which of the two kinds of pool KEY is.
class PoolVerb : public Verb {
 protected:
  /// "sem" or "permit".
  std::string_view noun() const { return entry().name.substr(0, entry().name.find(' ')); }
  PoolKind kind() const { return noun() == "sem" ? PoolKind::semaphore : PoolKind::permits; }

  /// The pool of KEY. Throws Error{wrong_type} as refuse_latch() does.
  Pool pool(Session& session) const;

  /// See cmd/ask/latch_guard.h. Throws Error{wrong_type}; and as Session::ask() does.
  void refuse_latch(Session& session) const { refuse_latch(session, {}, {}); }

  /// The same before a wait, in which a server that does not answer is asked again.
  void refuse_latch(Session& session, TimePoint started, const WaitOptions& wait) const;

  /// Throws Error{usage} when several servers were named: a majority of permits is no permit.
  static void need_one_server(const Session& session);

  /// Says what an answer means, and answers the exit status. Throws Error{wrong_type}.
  int finish(const Session& session, const PoolAnswer& answer) const;
};

/// Ids of permits are bytes on the server and hexadecimal digits here. What cannot be an id has not been taken: the
/// server says so of what was typed, as of any other. Throws Error{usage} for an empty one.
std::string permit_id(std::string_view text);
std::string shown_permit(const std::string& id);

/// The verbs that both nouns have, for their rows.
std::unique_ptr<Verb> pool_init_verb();
std::unique_ptr<Verb> pool_add_verb();
std::unique_ptr<Verb> pool_status_verb();
std::unique_ptr<Verb> pool_delete_verb();

/// The exit statuses of the two that ask before they delete.
constexpr std::string_view kErrorsOfDelete =
    "64 usage (also without a terminal and --yes), 65 other type, 69 no server, 77 78 errors";

}  // namespace rlock
