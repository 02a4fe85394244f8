// rlock lock wait: waits until locks are free, without acquiring them.

#include "base/error.h"
#include "cmd/ask/wait_lines.h"
#include "cmd/cli/exit_code.h"
#include "cmd/hold/wait/ancestor_watch.h"
#include "cmd/server/key_options.h"
#include "cmd/server/session.h"
#include "cmd/verbs/exit_without.h"
#include "cmd/verbs/verbs.h"
#include "sync/kinds/free_wait.h"

namespace rlock {
namespace {

class LockWait final : public Verb {
 public:
  void declare(VerbSpec& spec) override {
    spec.about =
        "Wait until KEY is free. With several keys, wait until all are free at once. rlock acquires "
        "nothing: another process may hold KEY when your script goes on. If a process above rlock renews KEY, rlock "
        "exits with status 75 after 1s.";
    spec.examples = {{"rlock lock wait deploy -w 30m && echo \"nobody deploys now\"", ""},
                     {"rlock lock wait -n backup report || exit 0", ""}};
  }

  int act(TimePoint started, std::vector<std::string>) override {
    Session session{server_, wait_};
    std::vector<LockName> names = session.names(keys_);
    // A node of a Cluster sees only its own keys, and no two nodes look at the same moment.
    if (!session.deployment.lie_together(names))
      throw Error{
          Error::usage,
          "these keys lie in several slots of the cluster, so no request can see all of them at once; "
          "give them the same part in braces, as in '{job}:a' '{job}:b'"};
    WaitLines lines{session, {started, wait_, names}};
    AncestorWatch above{session.redis,
                        {.asks_always = true, .answer_within = session.deployment.timeouts.command}};
    const AcquireResult got = acquire(session.redis, FreeWait{std::move(names)}, above.over(lines.options()));
    if (const auto* gave_up = std::get_if<GaveUp>(&got)) return exit_without(*gave_up, lines, above.reason());
    return exit_code::ok;
  }
};

}  // namespace

VerbRows lock_wait_verbs() {
  static constexpr VerbEntry kRow{.name = "lock wait",
                                  .summary = "wait until a lock is free, without acquiring it",
                                  .takes = takes::keys | takes::wait | takes::server,
                                  .exits = "0 all keys are free, 75 the wait ended before",
                                  .create = create<LockWait>};
  return {&kRow, 1};
}

}  // namespace rlock
