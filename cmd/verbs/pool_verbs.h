#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/server/session.h"
#include "cmd/server/verb.h"
#include "cmd/verbs/counter.h"
#include "sync/kinds/pool.h"

namespace rlock {

/// Metadata about the holder of permits without a lease expires after this time: it has no lease to follow. It is no
/// time that people give, because a renewal knows by it that there was no lease.
constexpr Milliseconds kFactsWithoutLease = std::chrono::days{30} + Milliseconds{1};

struct PoolNoun;

/// The common part of the verbs of `sem` and `permit`.
class PoolVerb : public Verb {
 protected:
  explicit PoolVerb(PoolKind kind) : kind_(kind) {}

  /// The row of the verb's noun.
  const PoolNoun& noun() const;
  PoolKind kind() const { return kind_; }

  /// The pool of KEY. Throws Error{wrong_type} like refuse_latch().
  Pool pool(Session& session) const;

  /// See cmd/ask/latch_guard.h. Throws Error{wrong_type}, and what Session::ask() throws.
  void refuse_latch(Session& session) const { refuse_latch(session, {}, {}); }

  /// The same before a wait, which retries if a server does not answer.
  void refuse_latch(Session& session, TimePoint started, const WaitOptions& wait) const;

  /// Throws Error{usage} if there are several servers.
  static void need_one_server(const Session& session) {
    rlock::need_one_server(session, "the permits of a key are");
  }

  /// Calls to write behind a call that may have released the last permit. If no permit is taken any more, they erase
  /// the metadata of holders.
  std::vector<Call> forget_holders(const Session& session) const;

  /// See finish_counter().
  int finish(const Session& session, const CounterAnswer& answer) const;

 private:
  PoolKind kind_;
};

/// Permit ids are 16 bytes on the server and hexadecimal digits here. Throws Error{usage} for any other text.
std::string permit_id(std::string_view text);

/// The verbs that both nouns have.
std::unique_ptr<Verb> pool_init_verb(PoolKind kind);
std::unique_ptr<Verb> pool_add_verb(PoolKind kind);
std::unique_ptr<Verb> pool_status_verb(PoolKind kind);
std::unique_ptr<Verb> pool_delete_verb(PoolKind kind);

}  // namespace rlock
