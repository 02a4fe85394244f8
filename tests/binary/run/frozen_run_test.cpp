// A holder that is frozen together with its guardian, as in a paused container or virtual machine, or on a
// suspended machine. The lock ends with its lease, and the command ends when it wakes up.

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"
#include "support/skipped.h"
#include "support/started.h"

using namespace rlock::test;

namespace {

/// A cgroup whose processes can be frozen, of version 2 or 1.
class Freezer {
 public:
  Freezer() {
    for (const char* root : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/freezer"}) {
      const std::string path = root + ("/rlock-test-" + std::to_string(::getpid()));
      if (::mkdir(path.c_str(), 0755) != 0) continue;
      for (const auto& [file, on, off] :
           {State{"cgroup.freeze", "1", "0"}, State{"freezer.state", "FROZEN", "THAWED"}}) {
        if (::access((path + "/" + file).c_str(), W_OK) != 0) continue;
        path_ = path;
        state_ = State{path + "/" + file, on, off};
        return;
      }
      ::rmdir(path.c_str());
    }
  }
  ~Freezer() {
    if (!path_) return;
    thaw();
    eventually([&] { return ::rmdir(path_->c_str()) == 0; });
  }
  Freezer(const Freezer&) = delete;
  Freezer& operator=(const Freezer&) = delete;

  explicit operator bool() const { return path_.has_value(); }

  /// A line of sh that moves the shell into the cgroup.
  std::string enter() const { return "echo $$ >" + *path_ + "/cgroup.procs || exit 99\n"; }

  void freeze() const {
    write_file(state_.file, state_.on);
    const auto frozen = [&] {
      return contains(read_file(*path_ + "/cgroup.events"), "frozen 1") ||
             contains(read_file(state_.file), "FROZEN");
    };
    REQUIRE(eventually(frozen, kDeadline));
  }
  void thaw() const { write_file(state_.file, state_.off); }

 private:
  struct State {
    std::string file, on, off;
  };
  std::optional<std::string> path_;
  State state_;
};

/// A command that writes a line every 10 ms.
const std::string kBeats = "while :; do echo beat; sleep 0.01; done";

}  // namespace

TEST_CASE(
    "a run that is frozen for longer than its lease lets the next holder in, and its command ends when it is thawed") {
  const Freezer freezer;
  if (!freezer) return skipped("no cgroup may be made here");
  RedisServer redis;
  Process run = sh(redis, freezer.enter() + "exec \"$RLOCK\" run -k k --lease 2s -- sh -c '" + kBeats + "'");
  REQUIRE(eventually([&] { return contains(run.out(), "beat"); }, kDeadline));
  freezer.freeze();
  Rlock next = redis.rlock("run", "-q", "-w", "20s", "-k", "k", "--", "true");
  CHECK(next.exit_code(kDeadline) == 0);
  freezer.thaw();
  CHECK(run.exit_code(kDeadline) == 125);
  CHECK(contains(run.err(), "lost 'k'"));
  CHECK(eventually([&] { return run.family().empty(); }));
}

TEST_CASE("a run that is frozen for less than its lease goes on with its lock") {
  const Freezer freezer;
  if (!freezer) return skipped("no cgroup may be made here");
  RedisServer redis;
  TempDir folder;
  Process run =
      sh(redis, freezer.enter() + "exec \"$RLOCK\" run -k k --lease 60s -- sh -c 'echo on; until [ -e " +
                    folder / "go" + " ]; do sleep 0.01; done; echo done'");
  REQUIRE(eventually([&] { return contains(run.out(), "on"); }, kDeadline));
  freezer.freeze();
  CHECK(redis.rlock("run", "-q", "-n", "-k", "k", "--", "true").exit_code(kDeadline) == 75);
  write_file(folder / "go", "");
  freezer.thaw();
  CHECK(run.exit_code(kDeadline) == 0);
  CHECK(contains(run.out(), "done"));
}

TEST_CASE("a script that is frozen together with its keeper ends when it is thawed, if its lock is over") {
  const Freezer freezer;
  if (!freezer) return skipped("no cgroup may be made here");
  RedisServer redis;
  Process script =
      sh(redis, freezer.enter() +
                    "\"$RLOCK\" lock acquire k --lease 2s --while-pid $$ >/dev/null || exit 9\n" + kBeats);
  REQUIRE(eventually([&] { return contains(script.out(), "beat"); }, kDeadline));
  freezer.freeze();
  Rlock next = redis.rlock("run", "-q", "-w", "20s", "-k", "k", "--", "true");
  CHECK(next.exit_code(kDeadline) == 0);
  freezer.thaw();
  CHECK(script.exit_code(kDeadline) > 128);
  CHECK(eventually([&] { return script.family().empty(); }));
}

TEST_CASE("a waiter that is frozen for longer than its wait ends when it is thawed, and leaves nothing") {
  const Freezer freezer;
  if (!freezer) return skipped("no cgroup may be made here");
  RedisServer redis;
  Rlock holder = redis.rlock("run", "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("k"); }, kDeadline));
  Process waiter = sh(redis, freezer.enter() + "exec \"$RLOCK\" run -q -w 1500ms -k k -- echo inside");
  REQUIRE(eventually([&] { return redis.has("redisson_unlock_latch:{k}:line"); }, kDeadline));
  freezer.freeze();
  holder.signal(SIGTERM);  // the lock becomes free, and is kept for the waiter
  CHECK(holder.exit_code(kDeadline) == 143);
  CHECK(redis.rlock("run", "-q", "-w", "20s", "-k", "k", "--", "true").exit_code(kDeadline) == 0);
  freezer.thaw();
  const int status = waiter.exit_code(kDeadline);
  CHECK((status == 75 || status == 0));
  CHECK((status == 0) == contains(waiter.out(), "inside"));
  CHECK(eventually([&] { return redis.keys().empty(); }, kDeadline));
}
