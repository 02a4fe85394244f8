// After rlock was killed, its guardian kills the command, and releases the lock when no process of the
// command lives. If the command has ended before, the guardian only releases.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "support/contains.h"
#include "support/event_lines.h"
#include "support/eventually.h"
#include "support/figures.h"
#include "support/lock_verbs.h"
#include "support/masters.h"
#include "support/profile.h"
#include "support/redis_server.h"
#include "support/skipped.h"
#include "support/tcp_proxy.h"
#include "support/witness.h"

using namespace rlock;
using namespace rlock::test;
using namespace std::chrono_literals;

namespace {

using Span = std::chrono::milliseconds;

/// Kills the run that holds `key`, and returns the time until the key is free.
Span free_after_kill(RedisServer& redis, Rlock& run, const std::string& key) {
  run.signal(SIGKILL);
  const auto killed = std::chrono::steady_clock::now();
  REQUIRE(eventually([&] { return !redis.has(key); }, 10s));
  return std::chrono::duration_cast<Span>(std::chrono::steady_clock::now() - killed);
}

/// A run that is killed after its command has ended, before it knows what came of its release. `to_server`: the release
/// has not arrived. `to_client`: it has, but its reply is lost.
class KilledAtRelease {
 public:
  using Way = TcpProxy::Way;

  /// Its command ends with the line `last` when the test wants it.
  KilledAtRelease(const RedisServer& redis, const Words& options, const std::string& last = "exit 3")
      : proxy_(redis.where()) {
    Process::Options environment = redis.environment();
    environment.env["RLOCK_URL"] = proxy_.url();
    Words words{"run", "-k", "k", "--lease", "10m", "--events", events()};
    words.insert(words.end(), options.begin(), options.end());
    const std::string line = "echo $$; until [ -e " + go() + " ]; do sleep 0.01; done; " + last;
    words.insert(words.end(), {"--", "sh", "-c", line});
    run_.emplace(words, environment);
    REQUIRE(eventually([&] { return run_->out().ends_with('\n') && guardian_in(run_->family()) > 0; }, 10s));
  }

  /// Ends the command and, when rlock has sent its release, stops rlock, so that it does not give the release up.
  /// `arrived`: the sign that the release has arrived, for `to_client`.
  void stop_at_release(Way lost, const std::function<bool()>& arrived) {
    const pid_t command = std::stoi(run_->out());
    const std::size_t before = proxy_.bytes(lost);
    proxy_.drop(lost);
    write_file(go(), "");
    REQUIRE(eventually(
        [&] { return !alive(command) && (lost == Way::to_client ? arrived() : proxy_.bytes(lost) > before); },
        10s));
    run_->signal(SIGSTOP);
  }
  void kill() {
    proxy_.pass();
    run_->signal(SIGKILL);
    CHECK(run_->exit_code() == 128 + SIGKILL);
  }
  void kill_at_release(Way lost, const std::function<bool()>& arrived) {
    stop_at_release(lost, arrived);
    kill();
  }

  Rlock& run() { return *run_; }
  std::string events() const { return folder_ / "events"; }
  bool over() const { return run_->family().empty(); }  ///< the guardian has ended, too

 private:
  std::string go() const { return folder_ / "go"; }

  TempDir folder_;
  TcpProxy proxy_;
  std::optional<Rlock> run_;
};

/// In this order: a release that arrives does nothing unless the server knows its script.
const std::vector<TcpProxy::Way> kLost{TcpProxy::Way::to_server, TcpProxy::Way::to_client};

}  // namespace

TEST_CASE("a run that was killed leaves its lock free when its command is gone, and never before") {
  RedisServer redis;
  TempDir evidence;
  std::vector<Span> times;
  const int kills = long_profile() ? 50 : 15;
  for (int i = 0; i < kills; ++i) {
    Words words{"run", "-k", "k", "--"};
    const Words witness = witness_command(evidence.path(), i + 1 == kills ? "for 10" : "for 60000");
    words.insert(words.end(), witness.begin(), witness.end());
    Rlock run{words, redis.environment()};
    REQUIRE(eventually([&] { return judge(evidence.path()).holds == static_cast<std::size_t>(i + 1); }, 10s));
    if (i + 1 < kills) times.push_back(free_after_kill(redis, run, "k"));
    if (i + 1 == kills) CHECK(run.exit_code() == 0);
  }
  const Verdict verdict = judge(evidence.path());
  CHECK_MESSAGE(verdict.clean(), verdict.str());
  MESSAGE(figures(times));
  CHECK_MESSAGE(median(times) < 5s, figures(times));  // long before its lease ends
  CHECK_FALSE(redis.has("rlock:meta:{k}"));
}

TEST_CASE("if a run is killed whose guardian was stopped, its command ends, and its lock is free") {
  RedisServer redis;
  for (const bool at_once : {true, false}) {
    CAPTURE(at_once);
    Rlock run = redis.rlock("run", "-k", "k", "--", "sh", "-c", "sleep 60 & echo $!; wait");
    REQUIRE(eventually([&] { return run.out().ends_with('\n') && guardian_in(run.family()) > 0; }, 10s));
    const pid_t guardian = guardian_in(run.family()), grandchild = std::stoi(run.out());
    if (!at_once) run.signal(SIGSTOP);  // then rlock does not continue the guardian at once
    ::kill(guardian, SIGSTOP);
    if (!at_once) {
      REQUIRE(eventually(
          [&] { return contains(read_file(fmt::format("/proc/{}/status", guardian)), "State:\tT"); }, 10s));
      run.signal(SIGCONT);
      REQUIRE(eventually(
          [&] { return !contains(read_file(fmt::format("/proc/{}/status", guardian)), "State:\tT"); }, 10s));
    }

    free_after_kill(redis, run, "k");

    CHECK_FALSE(alive(grandchild));
    CHECK(eventually([&] { return run.family().empty(); }, 10s));
  }
}

TEST_CASE("a run inside the hold of --owner that was killed gives its own hold back, and leaves the other") {
  RedisServer redis;
  acquired(redis, "k", {"--owner", "ci-42"});
  Rlock run = redis.rlock("run", "-k", "k", "--owner", "ci-42", "--", "sleep", "60");
  const auto holds = [&] { return redis.cli({"HGET", "k", "ci-42"}); };
  REQUIRE(eventually([&] { return holds() == "2" && guardian_in(run.family()) > 0; }, 10s));
  run.signal(SIGKILL);
  CHECK(eventually([&] { return holds() == "1"; }, 10s));
}

TEST_CASE("every type of lock is released, also several keys and inner holds, and with a password") {
  RedisServer redis{{.config = {"requirepass CANARY"}}};
  redis.cli({"AUTH", "CANARY"});
  TempDir folder;
  write_file(folder / "password", "CANARY\n");
  const Words by_file{"--password-file", folder / "password"};
  const Words by_url{"-u", "unix://:CANARY@" + redis.socket()};
  int which = 0;
  for (const Words& more :
       {Words{"-k", "k"}, Words{"--fair", "-k", "k"}, Words{"--fenced", "-k", "k"}, Words{"-s", "-k", "k"},
        Words{"-x", "-k", "k"}, Words{"--type", "plain", "-k", "k"}, Words{"-k", "other", "-k", "k"},
        Words{"--once-per", "1h", "-k", "k"}}) {
    CAPTURE(more.front());
    Words words{"run"};
    const Words& password = which++ % 2 == 0 ? by_file : by_url;
    words.insert(words.end(), password.begin(), password.end());
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", "sleep", "60"});
    Rlock run{words, redis.environment()};
    REQUIRE(eventually([&] { return redis.has("k"); }, 10s));
    REQUIRE(eventually([&] { return !run.family().empty() && run.family().size() >= 3; }, 10s));
    free_after_kill(redis, run, "k");
    CHECK(eventually([&] { return !redis.has("other"); }, 5s));
  }
}

TEST_CASE("a killed run leaves alone a new holder's lock, and a key that --min-hold keeps") {
  RedisServer redis;
  {
    Rlock run = redis.rlock("run", "-k", "k", "--", "sleep", "60");
    REQUIRE(eventually([&] { return run.family().size() >= 3; }, 10s));
    redis.del("k");
    redis.cli({"HSET", "k", "somebody:1", "1"});
    run.signal(SIGKILL);
    REQUIRE(eventually([&] { return run.family().empty(); }, 10s));
    CHECK(redis.cli({"HGETALL", "k"}) == "somebody:1\n1");
  }
  Rlock run = redis.rlock("run", "-k", "kept", "--min-hold", "1h", "--", "sleep", "60");
  REQUIRE(eventually([&] { return run.family().size() >= 3; }, 10s));
  run.signal(SIGKILL);
  CHECK(eventually([&] { return redis.pttl("kept") > 3'000'000; }, 10s));
}

TEST_CASE("over several servers a killed run gives back at all of them") {
  Masters masters{3};
  Rlock run = masters.rlock("run", "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return masters.holding("k") == 3 && run.family().size() >= 3; }, 10s));
  run.signal(SIGKILL);
  CHECK(eventually([&] { return masters.holding("k") == 0; }, 10s));
}

namespace {

/// Freezes the server, and kills a run that holds `k`. Returns its guardian.
pid_t kill_beside_frozen(RedisServer& redis, Rlock& run) {
  REQUIRE(eventually([&] { return redis.has("k") && guardian_in(run.family()) > 0; }, 10s));
  const pid_t guardian = guardian_in(run.family());
  redis.freeze();
  run.signal(SIGKILL);
  return guardian;
}

}  // namespace

TEST_CASE("a guardian tries to release until the lease is over, also before a server has answered it") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-k", "k", "--lease", "10m", "--", "sleep", "60");
  const pid_t guardian = kill_beside_frozen(redis, run);
  CHECK(throughout([&] { return alive(guardian); }, 3s));
  redis.thaw();
  CHECK(eventually([&] { return !redis.has("k") && !alive(guardian); }, 10s));

  Rlock brief = redis.rlock("run", "-k", "k", "--lease", "3s", "--", "sleep", "60");
  kill_beside_frozen(redis, brief);
  CHECK(eventually([&] { return brief.family().empty(); }, 10s));
}

TEST_CASE("a signal ends the long try of a guardian") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-k", "k", "--lease", "10m", "--", "sleep", "60");
  const pid_t guardian = kill_beside_frozen(redis, run);
  CHECK(throughout([&] { return alive(guardian); }, 2s));
  ::kill(guardian, SIGTERM);
  CHECK(eventually([&] { return !alive(guardian); }, 10s));
  redis.thaw();
}

TEST_CASE("a guardian does not release late if the user has named the owner, who may have acquired again") {
  RedisServer redis;
  acquired(redis, "k", {"--owner", "ci-42"});
  Rlock run = redis.rlock("run", "-k", "k", "--owner", "ci-42", "--lease", "10m", "--", "sleep", "60");
  REQUIRE(eventually([&] { return guardian_in(run.family()) > 0; }, 10s));
  redis.freeze();
  run.signal(SIGKILL);
  CHECK(eventually([&] { return run.family().empty(); }, 10s));
}

TEST_CASE("the guardian of a reader does not wait for a dead server, beside other readers") {
  Masters masters{3};
  Rlock other = masters.rlock("run", "-s", "-k", "k", "--", "sleep", "60");
  Rlock run = masters.rlock("run", "-s", "-k", "k", "--lease", "10m", "--", "sleep", "60");
  const auto holders = [&] { return masters[0].cli({"HLEN", "k"}); };
  REQUIRE(eventually([&] { return holders() == "3" && guardian_in(run.family()) > 0; }, 10s));
  masters.kill(2);
  run.signal(SIGKILL);
  CHECK(eventually([&] { return holders() == "2" && run.family().empty(); }, 10s));
}

TEST_CASE("while a process may live that the guardian cannot see, the lease runs out") {
  if (::geteuid() != 0) return skipped("only root can start another user's process");
  RedisServer redis{{.tcp = true}};
  Process::Options options = redis.environment();
  options.env["RLOCK_URL"] = redis.tcp_url();
  options.own_session = true;
  // The run belongs to the user "nobody", but its session contains a process of root.
  Process session{{"sh", "-c",
                   "sleep 60 & exec setpriv --reuid 65534 --regid 65534 --clear-groups " + rlock_binary() +
                       " run -k k --lease 3s -- sleep 60"},
                  options};
  REQUIRE(eventually([&] { return redis.has("k") && session.family().size() >= 4; }, 10s));
  session.signal(SIGKILL);
  // Only the process of root and the guardian are left.
  REQUIRE(eventually([&] { return session.family().size() <= 2; }, 10s));
  CHECK(redis.has("k"));
  CHECK(eventually([&] { return !redis.has("k"); }, 10s));
}

TEST_CASE("nothing is released beside a command that works in another session, with any environment") {
  RedisServer redis;
  for (const std::string how : {"setsid -w", "setsid -w env -i", "env -i setsid -w"}) {
    CAPTURE(how);
    Rlock run{{"run", "-k", "k", "--", "sh", "-c", how + " sh -c 'echo $$; exec sleep 60'"},
              redis.environment()};
    REQUIRE(eventually([&] { return run.out().ends_with('\n'); }, 10s));
    const pid_t command = std::stoi(run.out());
    // This time is long enough for the guardian to see the command: a process without environment cannot be
    // found otherwise.
    REQUIRE(throughout([&] { return redis.has("k"); }, 700ms));

    run.signal(SIGKILL);

    CHECK(throughout([&] { return redis.has("k"); }, 1s));
    REQUIRE(alive(command));
    ::kill(command, SIGKILL);
    CHECK(eventually([&] { return !redis.has("k"); }, 4s));  // long before its lease ends
  }
}

TEST_CASE("if /proc hides other users' processes, a killed run leaves its lock to the lease") {
  TempDir folder;
  const bool may =
      ::geteuid() == 0 &&
      Process{{"unshare", "-m", "mount", "-t", "proc", "-o", "hidepid=2", "proc", "/proc"}}.exit_code() == 0;
  if (!may) return skipped("no mount namespace for a /proc of our own");
  const std::string rlock = for_everybody(folder.path());
  RedisServer redis{{.tcp = true}};
  Process::Options options = redis.environment();
  options.env["RLOCK_URL"] = redis.tcp_url();
  options.own_session = true;  // the session of this test may contain processes of root
  for (const std::string hidepid : {"hidepid=0", "hidepid=2"}) {
    CAPTURE(hidepid);
    Process run{{"unshare", "-m", "sh", "-c",
                 "mount -t proc -o " + hidepid +
                     " proc /proc && exec setpriv --reuid 12345 --regid 12345 "
                     "--clear-groups " +
                     rlock + " run -k k -- sh -c 'echo on; exec sleep 60'"},
                options};
    const bool is_on = eventually([&] { return run.out() == "on\n" || !run.running(); }, 60s);
    REQUIRE_MESSAGE((is_on && run.running()), run.err());
    run.signal(SIGKILL);
    REQUIRE(eventually([&] { return run.family().empty(); }, 10s));  // the guardian has ended, too
    CHECK(redis.has("k") == (hidepid != "hidepid=0"));
    redis.del("k");
  }
}

TEST_CASE("a run that was stopped until its time was over leaves history, and its lock free") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-k", "k", "--lease", "3s", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("k") && run.family().size() >= 3; }, 10s));
  run.signal(SIGSTOP);

  REQUIRE(eventually([&] { return !redis.has("k"); }, 10s));
  Rlock history = redis.rlock("history", "--json", "k");
  REQUIRE(history.exit_code() == 0);
  CHECK(contains(history.out(), "\"outcome\":\"lost\""));
  CHECK(contains(history.out(), "rlock was stopped, and could not renew it"));
  run.signal(SIGCONT);
  CHECK(run.exit_code() == 125);
  Rlock once = redis.rlock("history", "--json", "k");
  CHECK(once.exit_code() == 0);
  CHECK(once.out().find("\"outcome\"") == once.out().rfind("\"outcome\""));
}

TEST_CASE(
    "a run that is killed before its release is confirmed leaves its lock free, and one end of its hold") {
  RedisServer redis;
  for (const Words& options : {Words{}, Words{"--fair"}, Words{"-s"}, Words{"--type", "plain"},
                               Words{"-k", "other"}, Words{"--once-per", "1h"}}) {
    for (const auto lost : kLost) {
      CAPTURE(joined(options, " "));
      CAPTURE(lost == TcpProxy::Way::to_server);
      KilledAtRelease killed{redis, options};
      killed.kill_at_release(lost, [&] { return !redis.has("k"); });
      CHECK(eventually([&] { return redis.keys().empty() || killed.over(); }, 10s));
      CHECK_FALSE(redis.has("k"));
      CHECK_FALSE(redis.has("other"));
      CHECK(eventually([&] { return killed.over(); }, 10s));
      CHECK(events_in(killed.events()) == "acquired released");
      CHECK(field(lines_of(killed.events()).back(), "outcome") == "\"killed\"");
      CHECK(redis.cli({"ZCARD", "rlock:history:{k}"}) == "1");
      redis.cli({"FLUSHALL"});
    }
  }
}

TEST_CASE("a run that is killed before its release is confirmed keeps its key as it would have") {
  RedisServer redis;
  for (const auto lost : kLost) {
    CAPTURE(lost == TcpProxy::Way::to_server);
    const auto stays = [&] { return redis.pttl("k") > 6'000'000; };
    KilledAtRelease kept{redis, {"--min-hold", "2h"}};
    kept.kill_at_release(lost, stays);
    REQUIRE(eventually([&] { return kept.over(); }, 10s));
    CHECK(stays());
    CHECK(contains(redis.cli({"HGETALL", "rlock:meta:{k}"}), "\"exit\":3,\"kept_by\":\"--min-hold\""));
    redis.cli({"FLUSHALL"});

    KilledAtRelease done{redis, {"--once-per", "2h"}, "exit 0"};
    done.kill_at_release(lost, stays);
    REQUIRE(eventually([&] { return done.over(); }, 10s));
    CHECK(stays());
    Rlock next = redis.rlock("run", "-v", "-k", "k", "--once-per", "2h", "--", "false");
    CHECK(next.exit_code() == 0);
    CHECK(contains(next.err(), "'k' was done "));
    redis.cli({"FLUSHALL"});
  }
}

TEST_CASE("a run inside another hold that is killed before its release is confirmed counts one hold down") {
  RedisServer redis;
  for (const auto lost : kLost) {
    CAPTURE(lost == TcpProxy::Way::to_server);
    acquired(redis, "k", {"--owner", "ci-42"});
    KilledAtRelease inside{redis, {"--owner", "ci-42"}};
    const auto holds = [&] { return redis.cli({"HGET", "k", "ci-42"}); };
    REQUIRE(holds() == "2");
    inside.kill_at_release(lost, [&] { return holds() == "1"; });
    REQUIRE(eventually([&] { return inside.over(); }, 10s));
    CHECK(holds() == "1");
    redis.cli({"FLUSHALL"});
  }
}

TEST_CASE("a run that is killed after its release leaves a later hold alone, also one of the same owner") {
  RedisServer redis;
  for (const std::string type : {"lock", "fair", "read"}) {
    for (const std::string owner : {"w1", "w2"}) {
      CAPTURE(type);
      CAPTURE(owner);
      const bool same = owner == "w1";
      const auto acquire = [&] { acquired(redis, "k", {"--owner", owner, "--type", type}); };
      const auto holds = [&] { return redis.cli({"HGET", "k", owner}); };
      if (same) acquire();
      const Words options = same ? Words{"--owner", owner, "--type", type} : Words{"--type", type};
      Words first{"run", "-k", "k"};  // from now on the server knows the script of the release
      first.insert(first.end(), options.begin(), options.end());
      first.insert(first.end(), {"--", "true"});
      REQUIRE(status_of(redis, first) == 0);
      KilledAtRelease killed{redis, options};
      killed.stop_at_release(TcpProxy::Way::to_client,
                             [&] { return same ? holds() == "1" : !redis.has("k"); });
      if (same) REQUIRE(status_of(redis, {"lock", "release", "k", "--owner", owner, "--type", type}) == 0);
      acquire();
      killed.kill();
      REQUIRE(eventually([&] { return killed.over(); }, 10s));
      CHECK(holds() == "1");
      CHECK(redis.has("rlock:meta:{k}"));
      redis.cli({"FLUSHALL"});
    }
  }
}

TEST_CASE(
    "the guardian of a run that is killed at its release signals no process that the command has left") {
  RedisServer redis;
  for (const std::string how : {"sleep 60 & echo $!", "setsid sleep 60 & echo $!"}) {
    CAPTURE(how);
    KilledAtRelease killed{redis, {}, how};
    killed.kill_at_release(TcpProxy::Way::to_server, {});
    const pid_t left = std::stoi(split(killed.run().out(), '\n').at(1));
    CHECK(throughout([&] { return alive(left) && redis.has("k"); }, 1s));
    ::kill(left, SIGKILL);
    CHECK(eventually([&] { return !redis.has("k"); }, 4s));
  }
}
