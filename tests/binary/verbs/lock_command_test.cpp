// rlock lock release, renew and status in scripts, and all verbs of rlock lock together.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <csignal>

#include "base/text.h"
#include "support/contains.h"
#include "support/crowd.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"
#include "support/script.h"
#include "support/tcp_proxy.h"
#include "support/witness.h"

using namespace rlock;
using namespace rlock::test;
using namespace std::chrono_literals;

TEST_CASE("each type of lock is released, renewed and found by key and owner alone") {
  RedisServer redis;
  for (const std::string type : {"lock", "fair", "fenced", "spin", "read", "write", "plain"}) {
    CAPTURE(type);
    const std::string owner = acquired(redis, type, {"--type", type});
    CHECK(status_of(redis, {"lock", "status", "-q", type, "--owner", owner}) == 0);
    CHECK(status_of(redis, {"lock", "status", "-q", type, "--owner", "another"}) == 1);
    CHECK(status_of(redis, {"lock", "renew", type, "--owner", owner, "--lease", "10m"}) == 0);
    CHECK(redis.pttl(type) > 500'000);
    CHECK(status_of(redis, {"lock", "renew", type, "--owner", "another", "--lease", "10m"}) == 1);
    CHECK(status_of(redis, {"lock", "release", type, "--owner", "another"}) == 1);
    CHECK(status_of(redis, {"lock", "release", type, "--owner", owner, "--type", type}) == 0);
    CHECK_FALSE(redis.has(type));
    CHECK(status_of(redis, {"lock", "status", "-q", type}) == 1);
  }
}

TEST_CASE("a permit that lock acquire has taken is renewed, found and released by its owner") {
  RedisServer redis;
  REQUIRE(status_of(redis, {"permit", "init", "pool", "2"}) == 0);
  const std::string owner = acquired(redis, "pool", {"--type", "permit"});
  CHECK(status_of(redis, {"lock", "status", "-q", "pool", "--owner", owner}) == 0);
  CHECK(status_of(redis, {"lock", "status", "-q", "pool", "--type", "permit", "--owner", "another"}) == 1);
  CHECK(status_of(redis, {"lock", "renew", "pool", "--owner", owner, "--lease", "10m"}) == 0);
  CHECK(status_of(redis, {"lock", "release", "pool", "--owner", owner, "--type", "lock"}) == 65);
  CHECK(redis.cli({"GET", "pool"}) == "1");
  CHECK(status_of(redis, {"lock", "release", "pool", "--owner", owner}) == 0);
  CHECK(redis.cli({"GET", "pool"}) == "2");
  CHECK(status_of(redis, {"lock", "release", "pool", "--owner", owner, "--type", "permit"}) == 1);
}

TEST_CASE(
    "a pool of which the owner has no permit, or none any more, is 1 for each verb, with a true message") {
  RedisServer redis;
  REQUIRE(status_of(redis, {"permit", "init", "pool", "2"}) == 0);
  const auto refuses = [&](const std::string& owner) {
    for (const std::string verb : {"release", "renew", "status"}) {
      CAPTURE(verb);
      for (const Words& type : {Words{}, Words{"--type", "permit"}}) {
        Words words{"lock", verb, "pool", "--owner", owner};
        words.insert(words.end(), type.begin(), type.end());
        Rlock rlock{words, redis.environment()};
        CHECK(rlock.exit_code() == 1);
        if (verb != "status")
          CHECK(rlock.err() ==
                "rlock: 'pool' is not held by owner '" + owner + "'; see: rlock inspect pool\n");
      }
    }
  };
  const std::string owner = acquired(redis, "pool", {"--type", "permit"});
  refuses("another");
  REQUIRE(status_of(redis, {"lock", "release", "pool", "--owner", owner}) == 0);
  refuses(owner);
  CHECK(redis.cli({"GET", "pool"}) == "2");
  CHECK(status_of(redis, {"lock", "status", "pool"}) == 65);

  REQUIRE(status_of(redis, {"latch", "set", "latch", "1"}) == 0);
  for (const char* verb : {"release", "renew", "status"})
    CHECK(status_of(redis, {"lock", verb, "latch", "--owner", owner}) == 65);
}

TEST_CASE("a signal ends lock release at each answer that it waits for") {
  RedisServer redis;
  Process::Options options = redis.environment();
  options.env["RLOCK_COMMAND_TIMEOUT"] = "1m";
  int waits = 0;
  for (std::size_t answers = 0; answers < 8; ++answers) {
    CAPTURE(answers);
    redis.cli({"FLUSHALL"});
    const std::string owner = acquired(redis, "deploy");
    TcpProxy proxy{redis.where()};
    proxy.drop_answers_after(answers);
    options.env["RLOCK_URL"] = proxy.url();
    Rlock release{{"lock", "release", "deploy", "--owner", owner}, options};
    if (eventually([&] { return !release.running(); }, 500ms)) continue;
    const StopWatch watch;
    release.signal(SIGINT);
    const int status = release.exit_code();
    if (status == 0) continue;  // it was only slow
    ++waits;
    CHECK(status == 128 + SIGINT);
    CHECK(watch.elapsed() < 10s);
    if (!release.err().empty())
      CHECK(release.err() == "rlock: release of 'deploy' not confirmed: SIGINT came before the answer\n");
  }
  CHECK(waits >= 3);
}

TEST_CASE("renew without a lease takes the one that was written down") {
  RedisServer redis;
  const std::string owner = acquired(redis, "deploy");
  redis.cli({"PEXPIRE", "deploy", "1000"});
  CHECK(status_of(redis, {"lock", "renew", "deploy", "--owner", owner}) == 0);
  CHECK(redis.pttl("deploy") > 50'000);
}

TEST_CASE("renew takes neither the lease nor the name of a run inside the hold") {
  RedisServer redis;
  CHECK(status_of(redis, {"lock", "acquire", "-q", "k", "--owner", "ci", "--lease", "1s"}) == 0);
  CHECK(status_of(redis, {"run", "--owner", "ci", "-k", "k", "--lease", "3s", "--", "sleep", "2.5"}) == 0);
  REQUIRE(contains(redis.cli({"HGET", "rlock:meta:{k}", "ci"}), "\"inner\":true"));
  CHECK(status_of(redis, {"lock", "renew", "k", "--owner", "ci"}) == 64);
  CHECK(status_of(redis, {"lock", "renew", "k", "--owner", "ci", "--lease", "40s"}) == 0);
  CHECK(redis.pttl("k") > 30'000);
  CHECK(contains(redis.cli({"HGET", "rlock:meta:{k}", "ci"}), "\"lease_ms\":3000"));
}

TEST_CASE("a renewal never shortens a lease, and says so instead of doing nothing") {
  RedisServer redis;
  Rlock acquire = redis.rlock("lock", "acquire", "k", "--lease", "1h", "--owner", "o:1");
  CHECK(acquire.exit_code() == 0);
  Rlock shorter = redis.rlock("lock", "renew", "k", "--owner", "o:1", "--lease", "10s");
  CHECK(shorter.exit_code() == 64);
  CHECK_MESSAGE(contains(shorter.err(), "rlock never shortens a lease"), shorter.err());
  CHECK(redis.pttl("k") > 3'500'000);
  CHECK(redis.rlock("lock", "renew", "k", "--owner", "o:1", "--lease", "1h").exit_code() == 0);
  CHECK(redis.rlock("lock", "renew", "k", "--owner", "o:1", "--lease", "2h").exit_code() == 0);
  CHECK(redis.pttl("k") > 7'100'000);
}

TEST_CASE("a reader's lease is its own, beside a reader with a longer one") {
  RedisServer redis;
  const auto acquire = [&](const std::string& owner, const std::string& lease) {
    CHECK(status_of(redis, {"lock", "acquire", "-s", "k", "--lease", lease, "--owner", owner}) == 0);
  };
  acquire("long:1", "1h");
  acquire("short:1", "1m");
  CHECK(status_of(redis, {"lock", "renew", "k", "--owner", "short:1", "--lease", "10m"}) == 0);
  CHECK(redis.pttl("{k}:short:1:rwlock_timeout:1") > 500'000);
  CHECK(status_of(redis, {"lock", "renew", "k", "--owner", "short:1", "--lease", "5m"}) == 64);

  redis.del("{k}:short:1:rwlock_timeout:1");
  CHECK(status_of(redis, {"lock", "status", "-q", "k", "--owner", "short:1"}) == 1);
  CHECK(status_of(redis, {"lock", "status", "-q", "k", "--owner", "long:1"}) == 0);
  Rlock status = redis.rlock("lock", "status", "k");
  CHECK(status.exit_code() == 0);
  CHECK_MESSAGE(contains(status.out(), "owner short:1, its lease has ended\n"), status.out());
  Rlock list = redis.rlock("list");
  CHECK(list.exit_code() == 0);
  CHECK_MESSAGE((contains(list.out(), " 1h ") || contains(list.out(), " 59m")), list.out());
}

TEST_CASE("a missing pool is 65 for run and for lock acquire") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-n", "--type", "permit", "-k", "nope", "--", "true");
  Rlock acquire = redis.rlock("lock", "acquire", "-n", "--type", "permit", "nope", "--lease", "1m");
  CHECK(run.exit_code() == 65);
  CHECK(acquire.exit_code() == 65);
  CHECK(run.err() == acquire.err());
}

TEST_CASE("a missing pool or semaphore is 1 for each verb of permit and sem, with the same message") {
  RedisServer redis;
  const std::string id(32, 'a');
  for (const Words& words : {Words{"permit", "acquire", "-n", "p", "--lease", "5s"},
                             {"permit", "release", "p", id},
                             {"permit", "renew", "p", id},
                             {"permit", "renew", "p", id, "--lease", "5s"},
                             {"permit", "add", "p", "1"},
                             {"permit", "delete", "p"},
                             {"sem", "acquire", "-n", "p"},
                             {"sem", "release", "p"},
                             {"sem", "add", "p", "1"},
                             {"sem", "drain", "p"},
                             {"sem", "delete", "p"}}) {
    CAPTURE(words.at(1));
    Rlock rlock{words, redis.environment()};
    CHECK(rlock.exit_code() == 1);
    CHECK(rlock.err() ==
          (words.front() == "sem"
               ? "rlock: there is no semaphore 'p'; to create it: rlock sem init p N\n"
               : "rlock: there is no pool of permits 'p'; to create it: rlock permit init p N\n"));
  }
  CHECK_FALSE(redis.has("p"));
}

TEST_CASE("release and renew of a lock that is not held are 1, and create nothing") {
  RedisServer redis;
  for (const std::string verb : {"release", "renew"}) {
    Rlock rlock = redis.rlock("lock", verb, "nothing", "--owner", "me");
    CHECK(rlock.exit_code() == 1);
    CHECK(rlock.err() == "rlock: 'nothing' is free\n");
  }
  CHECK(redis.keys().empty());
  CHECK(status_of(redis, {"lock", "release", "nothing"}) == 64);
  CHECK(status_of(redis, {"lock", "renew", "nothing"}) == 64);
}

TEST_CASE("the note of a latch that has opened leaves its key free for the verbs of locks") {
  RedisServer redis;
  REQUIRE(status_of(redis, {"latch", "set", "k", "1"}) == 0);
  REQUIRE(status_of(redis, {"latch", "down", "k"}) == 0);
  Rlock status = redis.rlock("lock", "status", "k");
  CHECK(status.exit_code() == 1);
  CHECK_FALSE(contains(status.out(), "latch"));
  for (const std::string verb : {"release", "renew"}) {
    Rlock rlock = redis.rlock("lock", verb, "k", "--owner", "me");
    CHECK(rlock.exit_code() == 1);
    CHECK(rlock.err() == "rlock: 'k' is free\n");
  }
}

TEST_CASE("a key that holds a number is not free, whatever note there is of a latch") {
  RedisServer redis;
  REQUIRE(status_of(redis, {"latch", "set", "k", "1"}) == 0);
  REQUIRE(status_of(redis, {"latch", "down", "k"}) == 0);
  redis.cli({"SET", "k", "0"});
  CHECK(status_of(redis, {"lock", "status", "-q", "k"}) == 65);
  CHECK(status_of(redis, {"lock", "release", "k", "--owner", "me"}) == 65);
}

TEST_CASE("an owner id that rlock has shortened is refused with the way to the whole one") {
  RedisServer redis;
  acquired(redis, "k");
  Rlock release = redis.rlock("lock", "release", "k", "--owner", "36fcbd...:9962");
  CHECK(release.exit_code() == 1);
  CHECK_MESSAGE(contains(release.err(), "to see them in full: rlock inspect -v k"), release.err());
}

TEST_CASE("a keeper that renews seldom can still learn at its next renewal that the hold was released") {
  RedisServer redis;
  ShellScript script{redis,
                     "owner=$(\"$RLOCK\" lock acquire k --while-pid $$ --lease 30m) || exit 9\n"
                     "\"$RLOCK\" lock release k --owner $owner || exit 8\n"};
  REQUIRE(script.process().exit_code(20s) == 0);
  const std::string mark = redis.cli({"KEYS", "*:released:*[0-9a-f]:[0-9]*"});
  CHECK_MESSAGE(redis.pttl(split(mark, '\n').front()) > 10 * 60'000, mark);
}

TEST_CASE("another type under the key is 65 for every verb, and stays as it is") {
  RedisServer redis;
  redis.cli({"RPUSH", "list", "x"});
  for (const Words& words :
       {Words{"lock", "acquire", "list", "--lease", "1m"}, Words{"lock", "release", "list", "--owner", "me"},
        Words{"lock", "renew", "list", "--owner", "me"}, Words{"lock", "status", "list"},
        Words{"unlock", "--yes", "list"}}) {
    Rlock rlock{words, redis.environment()};
    CHECK(rlock.exit_code() == 65);
    CHECK(contains(rlock.err(), "'list' holds a list"));
  }
  CHECK(redis.cli({"LRANGE", "list", "0", "-1"}) == "x");
}

TEST_CASE("a key of another type does not keep release and renew from the keys behind it") {
  RedisServer redis;
  redis.cli({"RPUSH", "list", "x"});
  const std::string owner = acquired(redis, "a", {"--owner", "ci-7"});
  acquired(redis, "b", {"--owner", owner});
  CHECK(status_of(redis, {"lock", "renew", "a", "list", "b", "--owner", owner, "--lease", "10m"}) == 65);
  CHECK(redis.pttl("b") > 500'000);
  Rlock release = redis.rlock("lock", "release", "a", "list", "free", "b", "--owner", owner);
  CHECK(release.exit_code() == 65);
  CHECK_MESSAGE(contains(release.err(), "'list' holds a list"), release.err());
  CHECK_FALSE(redis.has("a"));
  CHECK_FALSE(redis.has("b"));
  CHECK(redis.cli({"LRANGE", "list", "0", "-1"}) == "x");
}

TEST_CASE("a --type that differs from the key's content is 65") {
  RedisServer redis;
  const std::string owner = acquired(redis, "rw", {"--type", "write"});
  CHECK(status_of(redis, {"lock", "release", "rw", "--owner", owner, "--type", "lock"}) == 65);
  CHECK(status_of(redis, {"lock", "status", "-q", "rw", "--type", "plain"}) == 65);
  CHECK(status_of(redis, {"lock", "status", "-q", "rw", "--type", "read"}) == 0);
}

TEST_CASE("status names the holder of the key") {
  RedisServer redis;
  acquired(redis, "deploy", {"--owner", "ci-42"});
  Rlock status = redis.rlock("lock", "status", "deploy");
  CHECK(status.exit_code() == 0);
  CHECK(status.out().starts_with("deploy        lock, held\n  "));
  Rlock quiet = redis.rlock("lock", "status", "-q", "deploy");
  CHECK(quiet.exit_code() == 0);
  CHECK(quiet.out().empty());
}

TEST_CASE("owner ids that could be mistaken are refused") {
  RedisServer redis;
  for (const std::string owner : {"", "mode", "a b", "x:expire_time", "a:write", "\n", "\xC3\xBC"}) {
    CAPTURE(owner);
    CHECK(status_of(redis, {"lock", "acquire", "k", "--lease", "1m", "--owner", owner}) == 64);
  }
  CHECK(status_of(redis, {"lock", "acquire", "k", "--lease", "1m", "--again"}) == 64);
}

TEST_CASE("a server that does not answer is 69 for every verb, a password that is missing 77") {
  Process::Options nobody = Rlock::clean_environment();
  nobody.env["RLOCK_URL"] = "unix:///nonexistent/redis.sock";
  RedisServer secret{{.config = {"requirepass CANARY"}}};
  Process::Options locked_out = Rlock::clean_environment();
  locked_out.env["RLOCK_URL"] = secret.url();
  for (const Words& words :
       {Words{"lock", "acquire", "k", "--lease", "1m"}, Words{"lock", "release", "k", "--owner", "me"},
        Words{"lock", "renew", "k", "--owner", "me"}, Words{"lock", "status", "k"},
        Words{"unlock", "--yes", "k"}, Words{"inspect", "k"}, Words{"inspect"}, Words{"scripts", "load"}}) {
    CAPTURE(joined(words, " "));
    CHECK(Rlock{words, nobody}.exit_code() == 69);
    CHECK(Rlock{words, locked_out}.exit_code() == 77);
  }
}

TEST_CASE("twenty scripts that cannot wrap take three sections each, and never meet in one") {
  RedisServer redis;
  TempDir folder;
  const std::string script = folder / "three-sections";
  write_file(script,
             "#!/bin/sh\n"
             "# Three sections, each under a lock of its own, without wrapping a command.\n"
             "set -eu\n"
             "rlock=$1 witness=$2 evidence=$3\n"
             "held='' owner=''\n"
             "\n"
             "enter() {\n"
             "  owner=$(\"$rlock\" lock acquire \"$1\" --lease 1m)\n"
             "  held=$1\n"
             "}\n"
             "\n"
             "leave() {\n"
             "  [ -n \"$held\" ] || return 0\n"
             "  \"$rlock\" lock release \"$held\" --owner \"$owner\"\n"
             "  held=''\n"
             "}\n"
             "trap leave EXIT\n"
             "\n"
             "enter stock\n"
             "\"$witness\" hold \"$evidence/stock\" for 5\n"
             "leave\n"
             "\n"
             "enter ledger\n"
             "\"$witness\" hold \"$evidence/ledger\" for 5\n"
             "\"$rlock\" lock renew \"$held\" --owner \"$owner\" --lease 2m\n"
             "leave\n"
             "\n"
             "enter archive\n"
             "\"$witness\" hold \"$evidence/archive\" for 5\n");
  const Words sections{"stock", "ledger", "archive"};
  for (const std::string& section : sections) REQUIRE(::mkdir((folder / section).c_str(), 0700) == 0);

  const CrowdResult result = run(
      {.workers = 20,
       .runs = 1,
       .command = [&](int,
                      int) { return Words{"sh", script, rlock_binary(), program("witness"), folder.path()}; },
       .options = redis.environment()},
      60s);
  CHECK_MESSAGE(result.all(0), result.str(), result.complaints);
  for (const std::string& section : sections) {
    const Verdict verdict = judge(folder / section);
    CHECK_MESSAGE(verdict.clean(), verdict.str());
    CHECK(verdict.holds == 20);
    CHECK_FALSE(redis.has(section));
  }
}
