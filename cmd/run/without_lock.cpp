#include "cmd/run/without_lock.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "redis/call.h"
#include "redis/executor.h"
#include "sync/wait/acquire.h"

namespace rlock {
namespace {

bool says_yes(const Vote& vote) {
  const Reply* reply = vote.good_reply();
  return reply != nullptr && reply->kind() == Reply::Kind::integer && reply->integer() > 0;
}

}  // namespace

std::optional<LockName> existing_key(Session& session, const RunOptions& options) {
  const Interrupted interrupted = [&session] { return session.signals.any(); };
  // Connections of its own: another process may use those of the wait. A replica may answer, too.
  Executor look{session.loop,
                options.deployment.targets,
                {.timeouts = options.deployment.timeouts, .interrupted = interrupted}};
  const Patience patience{plus(Clock::now(), kGoodbye), interrupted};
  std::vector<Redis::Request> requests;
  for (const LockName& name : options.names)
    requests.push_back(look.post(command({"EXISTS", name.str()}, name.str()), {}, patience.until));
  while (!patience.ended(Clock::now()) && !std::ranges::all_of(requests, &Redis::Request::settled))
    session.loop.turn(patience.until);
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (std::ranges::any_of(requests[i].votes(), says_yes)) return options.names[i];
  return std::nullopt;
}

CommandOutcome run_without_lock(Session& session, const RunOptions& options, Variables variables,
                                std::function<void(const std::string&)> tell_stopping) {
  HoldOptions how;
  // No other run has our pid in its variables: the others of this command's family are known by it.
  for (const auto& [name, value] : variables)
    if (name == "RLOCK_PID") how.marks.push_back(name + "=" + value.value_or(""));
  how.command = {.argv = options.command, .variables = std::move(variables), .found = options.found};
  how.signal = options.signal;
  how.kill_after = options.kill_after;
  if (options.max_hold) how.max_hold = plus(Clock::now(), *options.max_hold);
  how.stop_on_loss = false;  // there is nothing to lose
  how.until_group = options.until_group;
  how.tell_stopping = std::move(tell_stopping);
  HeldLock nothing{.name = options.all_keys(),
                   .deadlines = [] { return Deadlines{}; },
                   .held = false,
                   .lost = [] { return std::optional<std::string>{}; }};
  return HeldCommand{session.loop, session.signals, std::move(nothing), std::move(how)}.run();
}

}  // namespace rlock
