#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "redis/redis.h"
#include "sync/watch/inspect.h"

namespace rlock {

/// An inspection of a key on every node, as a state machine: which call comes next, and what the votes on all
/// calls say. Does no I/O. A verb that does nothing else meanwhile sends the calls by inspect_each(), a wait
/// by an Inquiry.
///
/// The key itself answers the second of the calls. The others ask for what holders say about themselves: a
/// server may refuse those, and then facts are missing.
class InspectionSteps {
 public:
  explicit InspectionSteps(LockName name);

  /// A glance for a wait line: one call, see glance_at().
  InspectionSteps(LockName name, const Owner& asker);

  /// To be sent to every node now; nothing: the inspection is over.
  const std::optional<Call>& call() const noexcept { return call_; }

  /// Is call() the one that matters?
  bool asks_the_key() const noexcept { return step_ == Step::inspect; }

  /// The votes on call(), as far as they have come.
  void read(const Votes& votes);

  /// What each node sees, or why nobody knows. REQUIRES: over.
  using View = std::variant<Inspection, Failure>;
  const std::vector<View>& views() const noexcept { return views_; }

 private:
  enum class Step { facts, inspect, facts_again, glance, glance_again, over };

  void ask(Step step, std::optional<Call> call);
  void read_facts_of_all(const Votes& votes);
  void read_views();
  bool any_lacks_facts() const;
  View view(std::size_t node) const;

  LockName name_;
  Step step_ = Step::facts;
  std::optional<Call> call_;
  std::vector<KnownFacts> known_;
  Votes inspected_;
  std::vector<View> views_;
};

/// What the node sees that knows most: the holder whom most know, or `owner` where anybody knows that one.
/// REQUIRES: there is one.
const Inspection& agreed(const std::vector<Inspection>& seen,
                         const std::optional<Owner>& owner = std::nullopt);

/// How many see that `owner` holds it.
std::size_t sights(const std::vector<Inspection>& seen, const Owner& owner);

}  // namespace rlock
