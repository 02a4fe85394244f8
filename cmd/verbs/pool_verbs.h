#pragma once

#include <memory>

#include "cmd/cli/verb.h"
#include "cmd/server/server_options.h"
#include "cmd/server/session.h"
#include "sync/kinds/pool.h"

namespace rlock {

/// The most permits that anybody asks for: Redisson counts them in 32 bits.
constexpr std::int64_t kMostPermits = 2147483647;

/// What the verbs of the nouns `sem` and `permit` share: a key, a server, and which of the two kinds it is.
class PoolVerb : public Verb {
 protected:
  explicit PoolVerb(PoolKind kind) : kind_(kind) {}

  /// "sem" or "permit".
  std::string_view noun() const { return kind_ == PoolKind::semaphore ? "sem" : "permit"; }

  /// The pool of KEY. Throws Error{wrong_type} as refuse_latch() does.
  Pool pool(Session& session) const;

  /// See cmd/ask/latch_guard.h. Throws Error{wrong_type}; and as Session::ask() does.
  void refuse_latch(Session& session) const { refuse_latch(session, {}, {}); }

  /// The same before a wait, in which a server that does not answer is asked again.
  void refuse_latch(Session& session, TimePoint started, const WaitOptions& wait) const;

  /// Throws Error{usage} when several servers were named: a majority of permits is no permit.
  static void need_one_server(const Session& session);

  /// KEY and, with `number`, N after it, which is at least `least`.
  void declare_operands(VerbSpec& spec, std::int64_t* number, std::int64_t least = 1);

  /// Says what an answer means, and answers the exit status. Throws Error{wrong_type}.
  int finish(const Session& session, const PoolAnswer& answer) const;

  const PoolKind kind_;
  std::string key_;
  ServerOptions server_;
};

/// The verbs that both nouns have.
std::unique_ptr<Verb> pool_init_verb(PoolKind kind);
std::unique_ptr<Verb> pool_add_verb(PoolKind kind);
std::unique_ptr<Verb> pool_status_verb(PoolKind kind);
std::unique_ptr<Verb> pool_delete_verb(PoolKind kind);

}  // namespace rlock
