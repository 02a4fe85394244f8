// Scripts and commands that start processes without end: none of those processes works beside the next
// holder.

#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/profile.h"
#include "support/redis_server.h"

using namespace rlock::test;
using namespace std::chrono_literals;

namespace {

/// Starts children without end. Each child holds a kernel lock on the file `witness`.
const char* const kForks =
    "echo ready >$FOLDER/ready; while :; do (exec 9>>$FOLDER/witness; flock -s 9; exec sleep 30) & done";

/// Runs bash with the script `text`, in the folder of the witness.
class Forking {
 public:
  Forking(const RedisServer& redis, const std::string& text) : process_{words(text), options(redis)} {
    REQUIRE(eventually([&] { return !read_file(folder_ / "ready").empty() && !witness_is_free(); }, 10s));
  }

  Process& process() { return process_; }
  std::string witness() const { return folder_ / "witness"; }
  bool witness_is_free() const {
    return output_of({"sh", "-c", "flock -n -x '" + witness() + "' echo free || echo taken"}) == "free\n";
  }

  /// True: nothing of the script executes any more. A killed process gives its kernel locks back only when it gets a
  /// processor, which may take long on a busy machine. Until then it has no environment, so it is not in the family.
  bool nothing_works() const { return witness_is_free() || process_.family().empty(); }

 private:
  Words words(const std::string& text) const {
    write_file(folder_ / "script.sh", text);
    write_file(folder_ / "witness", "");
    return {"bash", folder_ / "script.sh"};
  }
  Process::Options options(const RedisServer& redis) const {
    Process::Options options = redis.environment();
    options.env["RLOCK"] = rlock_binary();
    options.env["FOLDER"] = folder_.path();
    return options;
  }

  TempDir folder_;
  Process process_;
};

const std::string kAcquire = "owner=$(\"$RLOCK\" lock acquire k --while-pid $$) || exit\n";

/// The exit status of the next holder. 0: no earlier process works any more. 1: one still works. 75: the lock is
/// held.
int next_holder(const RedisServer& redis, const std::string& witness) {
  return status_of(redis, {"run", "-qn", "-k", "k", "--", "flock", "-n", "-x", witness, "true"});
}

}  // namespace

TEST_CASE("a script that starts children all the time is stopped with all of them before the lock is free") {
  RedisServer redis;
  for (int round = 0; round < (long_profile() ? 50 : 5); ++round) {
    CAPTURE(round);
    Forking script{redis, kAcquire + kForks};
    CHECK(status_of(redis, {"stop", "-q", "k"}) == 0);
    CHECK(next_holder(redis, script.witness()) == 0);
  }
}

TEST_CASE("a script that starts children all the time loses its lock: none of them lives on") {
  RedisServer redis;
  for (int round = 0; round < (long_profile() ? 50 : 5); ++round) {
    CAPTURE(round);
    Forking script{redis, kAcquire + kForks};
    CHECK(status_of(redis, {"unlock", "-q", "--yes", "k"}) == 0);
    REQUIRE(eventually([&] { return !script.process().running(); }, 10s));
    CHECK(eventually([&] { return script.nothing_works(); }, 10s));
    CHECK(script.process().exit_code() == 128 + SIGTERM);
  }
}

TEST_CASE(
    "processes that start others and end at once are stopped with all of them before the lock is free") {
  RedisServer redis;
  const std::string orphans =
      "go_on() { (exec 9>>$FOLDER/witness; flock -s 9; exec sleep 30) & [ ! -e $FOLDER/witness ] || go_on & exit; }; "
      "go_on & echo ready >$FOLDER/ready; sleep 60; :";
  for (int round = 0; round < (long_profile() ? 50 : 5); ++round) {
    CAPTURE(round);
    Forking script{redis, kAcquire + orphans};
    if (round % 2 == 0) {
      CHECK(status_of(redis, {"stop", "-q", "k"}) == 0);
      CHECK(next_holder(redis, script.witness()) == 0);
    } else {
      CHECK(status_of(redis, {"unlock", "-q", "--yes", "k"}) == 0);
      CHECK(eventually([&] { return script.nothing_works(); }, 10s));
    }
  }
}

TEST_CASE("a command that starts children all the time is stopped with all of them before the lock is free") {
  RedisServer redis;
  for (int round = 0; round < (long_profile() ? 50 : 5); ++round) {
    CAPTURE(round);
    Forking run{redis, std::string{"exec $RLOCK run -q -k k -- bash -c '"} + kForks + "'"};
    CHECK(status_of(redis, {"stop", "-q", "k"}) == 0);
    CHECK(next_holder(redis, run.witness()) == 0);
  }
}
