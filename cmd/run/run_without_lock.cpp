#include "cmd/run/run_without_lock.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cmd/hold/report/hold_environment.h"
#include "cmd/run/run_command.h"
#include "cmd/run/run_context.h"
#include "redis/call.h"
#include "redis/executor/executor.h"
#include "sync/wait/acquire.h"

namespace rlock {
namespace {

bool says_yes(const Vote& vote) {
  const Reply* reply = vote.good_reply();
  return reply != nullptr && reply->kind() == Reply::Kind::integer && reply->integer() > 0;
}

CommandOutcome run_command_alone(RunContext& run) {
  Session& session = run.session;
  const RunRequest& request = run.request;
  // No other run has our pid in its variables, so RLOCK_PID marks the processes of this command.
  CommandOptions how = command_options(run, describe_no_hold(), {"RLOCK_PID"});
  if (request.max_hold) how.max_hold = plus(session.now(), *request.max_hold);
  how.rules.stop_on_loss = false;  // there is no lock to lose
  how.command.outlives_us = true;
  run.events.listen_to(how);
  HeldLock nothing{.name = [&request] { return request.all_keys(); },
                   .deadlines = [] { return Deadlines{}; },
                   .held = false,
                   .lost = [] { return std::optional<std::string>{}; }};
  return HeldCommand{session.loop, session.signals, std::move(nothing), std::move(how)}.run();
}

}  // namespace

std::optional<LockName> existing_key(Session& session, const RunRequest& request) {
  const Interrupted interrupted = [&session] { return session.signals.any(); };
  // This needs new connections, because another process may use those of the wait. A replica may answer, too.
  Executor look{session.loop,
                request.deployment.targets,
                {.timeouts = request.deployment.timeouts, .interrupted = interrupted}};
  const Patience patience{plus(session.now(), kCleanupTime), interrupted};
  std::vector<Redis::Request> requests;
  for (const LockName& name : request.names)
    requests.push_back(look.post(command({"EXISTS", name.str()}, name.str()), {}, patience.until));
  session.loop.wait(patience, [&] { return std::ranges::all_of(requests, &Redis::Request::settled); });
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (std::ranges::any_of(requests[i].votes(), says_yes)) return request.names[i];
  return std::nullopt;
}

int run_without_lock(RunContext& run) {
  const TimePoint started = run.session.now();
  const auto why = run.report.error;
  run.events.runs_without_lock(run.report);
  const CommandOutcome ended = run_command_alone(run);
  say_why_it_did_not_start(run.request, ended);
  report_ended(run.report, ended, std::nullopt, elapsed(started, run.session.now()),
               exit_of(run.request, ended, Lost::no));
  run.report.held.reset();
  if (!run.report.error) run.report.error = why;
  run.status.write(run.report);
  return end_like(run.request, ended, Lost::no);
}

}  // namespace rlock
