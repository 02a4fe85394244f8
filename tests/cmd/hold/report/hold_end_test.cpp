#include "cmd/hold/report/hold_end.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "redis/executor/executor.h"
#include "support/direct.h"
#include "support/redis_server.h"
#include "sync/kinds/lock.h"

using namespace rlock;
using namespace rlock::test;

namespace {

using How = CommandOutcome::How;

std::string end_text(const HoldEnd& end) {
  std::string text{text_of(end.outcome)};
  if (end.exit) text += fmt::format(", exit {}", *end.exit);
  if (end.signal) text += fmt::format(", signal {}", *end.signal);
  if (end.why) text += ", why: " + *end.why;
  return text;
}

}  // namespace

TEST_CASE("the history tells how a hold ended: exit or signal, never both, and why") {
  const Loss expired{.why = "it expired"};
  const Loss removed = Loss::removed_by("alice@ops: stuck");
  struct Row {
    CommandOutcome ended;
    std::optional<Loss> lost;
    std::string text;
  };
  for (const Row& row : {
           Row{{.exit_code = 3}, {}, "ran, exit 3"},
           Row{{.how = How::killed, .exit_code = 143, .signal = SIGTERM}, {}, "ran, signal 15"},
           Row{{.exit_code = 3, .max_hold = true}, {}, "max-hold, exit 3"},
           Row{{.how = How::killed, .exit_code = 143, .signal = SIGTERM, .stopped_by = "bob@ops: a release"},
               {},
               "stopped, signal 15, why: bob@ops: a release"},
           Row{{.exit_code = 3}, expired, "lost, exit 3, why: it expired"},
           Row{{.exit_code = 3}, removed, "removed, exit 3, why: alice@ops: stuck"},
           // The request to end came first, and the loss was found afterwards. The loss counts.
           Row{{.exit_code = 3, .stopped_by = "bob@ops: a release"},
               expired,
               "lost, exit 3, why: it expired"},
           Row{{.how = How::not_started, .error = ENOENT},
               {},
               fmt::format("not-started, why: {}", std::strerror(ENOENT))},
           Row{{.how = How::not_started, .error = ENOENT},
               expired,
               fmt::format("not-started, why: {}", std::strerror(ENOENT))},
           Row{{.how = How::interrupted, .signal = SIGINT}, {}, "interrupted, signal 2"},
           Row{{.how = How::too_late}, {}, "unreachable"},
       }) {
    CAPTURE(row.text);
    CHECK(end_text(end_of(row.ended, row.lost)) == row.text);
  }
}

TEST_CASE("only a removal of this very hold, after its acquire, shows who removed it") {
  RedisServer server;
  Direct redis{server};
  Loop loop;
  Executor executor{loop, {parse_target(server.url())}, {}};
  struct Row {
    std::string key, owner;
    std::int64_t ended;
    HoldEnd end;
    std::string by;
  };
  for (const Row& row : {
           Row{"unknown", "me:1", 5000, {.outcome = HoldOutcome::removed}, "nobody"},
           Row{"another", "you:1", 5000, {.outcome = HoldOutcome::removed, .why = "alice"}, "nobody"},
           Row{"earlier", "me:1", 4999, {.outcome = HoldOutcome::removed, .why = "alice"}, "nobody"},
           Row{"stopped", "me:1", 5000, {.outcome = HoldOutcome::stopped, .why = "alice"}, "nobody"},
           Row{"removed",
               "me:1",
               5000,
               {.outcome = HoldOutcome::removed, .why = "alice: \033stuck"},
               "alice: \\x1bstuck"},
       }) {
    CAPTURE(row.key);
    const Lock lock{Claim{.name = LockName{row.key}, .owner = Owner{"me:1"}}, Hold::first};
    const PastHold past{.type = "lock", .ended = ServerTime{Milliseconds{row.ended}}, .end = row.end};
    const HoldEntry entry{.key = row.key, .member = row.owner};
    redis.run(write_end(lock.name(), Owner{row.owner}, entry, past, WriteEnd::always));
    CHECK(removed_by(executor, lock, ServerTime{Milliseconds{5000}}).value_or("nobody") == row.by);
  }
}
