// Each key is a Task, whose calls come one after the other. Calls of different keys do not wait for each other. The
// steps of a Task:
//
//   InspectionSteps  Its calls go to all nodes. When a quorum has answered, the other nodes get a moment more. The
//                    call about the key itself gives them more than the others do: its answers are the result.
//   read_views()     What each node sees. If fewer than a quorum have answered, the key has failed, and its task ends.
//   listeners        Last, because the type of the lock decides on which channel they are counted. Without this
//                    answer the count stays 0, and the rest of the result is good.
//
// With one node, every call before the last is retried: without its answer the inspection has failed. With several,
// only the call about the key is retried, because other nodes can stand in for one that does not answer.

#include "cmd/ask/inspector.h"

#include <fmt/format.h>

#include "base/text.h"
#include "sync/watch/listeners.h"

namespace rlock {
namespace {

/// This many keys are inspected at a time. This hides round trips, and delays other clients of the server by
/// about a millisecond.
constexpr std::size_t kAtOnce = 24;

/// A server that lets a key wait for so long is silent or distant. Such a key no longer counts, and from then on more of
/// them begin, so that they wait together. More than this would delay the answers of the other servers.
constexpr Milliseconds kLong{500};
constexpr std::size_t kAtOnceWhenSlow = 1000;

}  // namespace

struct Inspector::Task {
  std::size_t index;
  TimePoint began;
  InspectionSteps steps;
  Redis::Request asked{};
  std::optional<Enough> enough{};  ///< for the call under way
  bool counts = false;             ///< the call under way counts listeners
  Result result{};
  std::vector<std::size_t> nodes{};  ///< the node of each item in result.views.seen
};

Inspector::Inspector(Session& session, std::vector<LockName> names, std::string wanted)
    : session_(session), names_(std::move(names)), wanted_(std::move(wanted)), results_(names_.size()) {}

Inspector::~Inspector() = default;

/// A call without which the inspection fails is retried: with one node all but the count of listeners, with several nodes
/// only that for the key itself.
void Inspector::post(Task& task, const Call& call) {
  const bool matters = !task.counts && task.steps.asks_the_key();
  const bool retries = matters || (!task.counts && session_.redis.nodes() == 1);
  task.enough.emplace(matters ? kAnswerGrace : kShortAnswerGrace);
  task.asked = session_.redis.post(call, retries ? with_retries() : Delivery{}, session_.patience().until);
  if (task.asked.settled()) wake_at_ = TimePoint::min();  // it could not even be sent
}

void Inspector::begin(std::size_t index) {
  Task& task = tasks_.emplace_back(index, session_.now(), InspectionSteps{names_[index], wanted_});
  post(task, *task.steps.call());
}

bool Inspector::answered(Task& task, TimePoint now) {
  if (task.asked.settled()) return true;
  const TimePoint enough = task.enough->from(answered_by(session_.redis.quorum(), task.asked.votes()), now);
  wake_at_ = earliest(wake_at_, enough);
  return enough <= now;
}

/// Stores the views of the nodes, or the reason why there is none.
void Inspector::read_views(Task& task) const {
  std::optional<Failure> why;
  Views& views = task.result.views;
  for (std::size_t node = 0; node < task.steps.views().size(); ++node) {
    const InspectionSteps::View& view = task.steps.views()[node];
    if (const auto* failure = std::get_if<Failure>(&view)) {
      views.silent.push_back(fmt::format("{}: {}", session_.redis.str(node), failure->text));
      if (!why || why->kind != Error::internal) why = *failure;
      continue;
    }
    views.seen.push_back(std::get<Inspection>(view));
    task.nodes.push_back(node);
    if (session_.redis.nodes() > 1) views.seen.back().server = session_.redis.str(node);
  }
  if (views.seen.size() >= session_.redis.quorum()) return;
  if (why && session_.redis.nodes() > 1) why->text = joined(views.silent, "; ");
  task.result.failure = why;
}

/// Handles the answer, and posts the next call. Returns true if the key is done.
bool Inspector::advance(Task& task) {
  const Votes& votes = task.asked.votes();
  if (task.counts) {
    std::vector<Inspection>& seen = task.result.views.seen;
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (const Reply* reply = votes[task.nodes[i]].reply()) seen[i].subscribers = read_listeners(*reply);
    return true;
  }
  if (session_.redis.nodes() == 1 && votes.front().failure()) {
    task.result.failure = *votes.front().failure();
    return true;
  }
  task.steps.read(votes);
  if (const auto& call = task.steps.call()) {
    post(task, *call);
    return false;
  }
  read_views(task);
  if (task.result.failure) return true;
  task.counts = true;
  post(task, count_listeners(agreed(task.result.views.seen)));
  return false;
}

void Inspector::begin_more(TimePoint now) {
  const auto first =
      std::ranges::find_if(tasks_, [&](const Task& task) { return now < plus(task.began, kLong); });
  slow_ = slow_ || first != tasks_.begin();
  auto counted = static_cast<std::size_t>(std::distance(first, tasks_.end()));
  if (first != tasks_.end() && next_ < names_.size())
    wake_at_ = earliest(wake_at_, plus(first->began, kLong));
  for (; next_ < names_.size() && counted < (slow_ ? kAtOnceWhenSlow : kAtOnce); ++counted) begin(next_++);
}

void Inspector::advance() {
  const TimePoint now = session_.now();
  wake_at_ = kNever;
  begin_more(now);
  for (auto task = tasks_.begin(); task != tasks_.end();) {
    bool done = false;
    while (!done && answered(*task, now)) done = advance(*task);
    if (!done) {
      ++task;
      continue;
    }
    const auto& failure = task->result.failure;
    slow_ = slow_ || (failure && failure->kind == Error::unreachable);
    results_[task->index] = std::move(task->result);
    done_.push_back(task->index);
    task = tasks_.erase(task);
    if (next_ < names_.size()) wake_at_ = TimePoint::min();  // to begin the next, unless the owner stops
  }
}

void Inspector::run(const std::function<bool(const Result&)>& stops) {
  std::size_t checked = 0;
  while (true) {
    session_.check_signals();  // before a failure is seen, because a signal may have caused it
    advance();
    for (; checked < done_.size(); ++checked)
      if (stops(*results_[done_[checked]])) stop();
    if (over()) return;
    session_.loop.turn(wake_at_);
  }
}

Views inspect_each(Session& session, const LockName& name, const std::optional<Owner>& wanted) {
  Inspector inspector{session, {name}, wanted ? wanted->str() : std::string{}};
  inspector.run([](const Inspector::Result&) { return false; });
  const Inspector::Result& result = *inspector.results().front();
  if (result.failure) fail(session, *result.failure);
  return result.views;
}

void fail(Session& session, const Failure& failure) {
  if (failure.kind == Error::internal)
    failure.throw_error();  // the server was reached: its reply has another shape
  session.fail(failure);
}

Inspection inspect(Session& session, const LockName& name, const std::optional<Owner>& wanted) {
  return agreed(inspect_each(session, name, wanted).seen);
}

}  // namespace rlock
