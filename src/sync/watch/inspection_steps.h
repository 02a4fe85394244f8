#pragma once

#include <cstddef>
#include <optional>
#include <variant>
#include <vector>

#include "redis/redis.h"
#include "sync/watch/inspect.h"

namespace rlock {

/// The inspection of a key on every node, as a state machine: call() is the next call, read() takes the votes
/// on it. It does no I/O. Verbs send the calls by inspect_each(); a wait uses an Inquiry.
///
/// The second call asks about the key itself. The other calls ask for the facts of the holders. If a server
/// refuses those, the facts are missing.
class InspectionSteps {
 public:
  /// `wanted`: see inspect_key().
  explicit InspectionSteps(LockName name, std::string wanted = {});

  /// A glance for a wait line, see glance_at(): one call, or two if the first misses the facts of a holder.
  InspectionSteps(LockName name, const Owner& asker);

  /// The call for every node now. Empty: the inspection is over.
  const std::optional<Call>& call() const noexcept { return call_; }

  /// Is call() the one about the key itself?
  bool asks_the_key() const noexcept { return step_ == Step::inspect; }

  /// Takes the votes on call(), as far as they have come.
  void read(const Votes& votes);

  /// The view of each node, or why it has none. REQUIRES: the inspection is over.
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
  std::string wanted_{};
  Step step_ = Step::facts;
  std::optional<Call> call_;
  std::vector<KnownFacts> known_;
  Votes inspected_;
  std::vector<View> views_;
};

/// The view of a node that sees the holder which most nodes see. But if any node sees `owner` as a holder, it
/// is the view of such a node. A view with metadata comes before one that lacks it. REQUIRES: `seen` is not empty.
const Inspection& agreed(const std::vector<Inspection>& seen,
                         const std::optional<Owner>& owner = std::nullopt);

/// The number of views in which `owner` holds it.
std::size_t nodes_that_see(const std::vector<Inspection>& seen, const Owner& owner);

}  // namespace rlock
