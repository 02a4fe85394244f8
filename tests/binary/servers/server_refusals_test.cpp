// Logins and access rights: what rlock does with passwords, with a user's rights, and with a server's
// refusals.

#include <doctest/doctest.h>
#include <unistd.h>

#include "base/text.h"
#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/fake_redis.h"
#include "support/profile.h"
#include "support/redis_server.h"
#include "support/skipped.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// Starts rlock at this server as this user; "": without a user name.
Rlock as(const RedisServer& redis, const std::string& user, Words words) {
  Process::Options options = redis.environment();
  options.env["RLOCK_URL"] = "unix://" + (user.empty() ? "" : user + "@") + redis.socket();
  return Rlock{std::move(words), options};
}

/// Command lines that acquire a lock or create a key: run in several forms, lock acquire, and one for each
/// kind of counter.
std::vector<Words> takers(const std::string& key) {
  return {{"run", "-k", key, "--", "echo", "ran"},
          {"run", "-w", "500ms", "-k", key, "--", "echo", "ran"},
          {"run", "--fair", "-n", "-k", key, "--", "echo", "ran"},
          {"run", "--permits", "2", "-k", key, "--", "echo", "ran"},
          {"run", "--type", "plain", "-k", key, "--", "echo", "ran"},
          {"lock", "acquire", key, "--lease", "1m"},
          {"sem", "init", key, "3"},
          {"permit", "init", key, "3"},
          {"latch", "set", key, "3"}};
}

}  // namespace

TEST_CASE("a wrong password takes no lock, even if the server needs none") {
  RedisServer redis;  // its default user is open
  redis.cli({"ACL", "SETUSER", "app", "on", ">right", "~*", "&*", "+@all"});
  for (const std::string user : {":wrong", "default:wrong", "app:wrong", "nobody:wrong", "nobody"}) {
    for (const Words& words : takers("k")) {
      CAPTURE(user);
      CAPTURE(joined(words, " "));
      Rlock rlock = as(redis, user, words);
      CHECK(rlock.exit_code(kDeadline) == 77);
      CHECK(rlock.out().empty());
      CHECK(split(rlock.err(), '\n').size() == 2);
      CHECK_FALSE(contains(rlock.err(), "wrong"));
    }
  }
  CHECK(redis.keys().empty());
  CHECK(as(redis, "app:right", {"run", "-k", "k", "--", "true"}).exit_code(kDeadline) == 0);
}

TEST_CASE("a missing database does not lead to a lock in another one") {
  RedisServer redis;
  for (const Words& words : takers("k")) {
    CAPTURE(joined(words, " "));
    Words with_db = words;
    with_db.insert(with_db.begin() + (words.front() == "run" ? 1 : 2), {"--db", "16"});
    Rlock rlock = as(redis, "", with_db);
    CHECK(rlock.exit_code(kDeadline) == 78);
    CHECK(rlock.out().empty());
    CHECK(contains(rlock.err(), "no database 16"));
  }
  CHECK_FALSE(contains(redis.cli({"INFO", "keyspace"}), "db"));
}

TEST_CASE("a user without the rights for a lock is told so, and leaves nothing behind") {
  RedisServer redis;
  const std::vector<std::pair<std::string, Words>> users{
      {"no-scripts", {"~*", "&*", "+@all", "-eval", "-evalsha"}},
      {"no-keys", {"~other", "&*", "+@all"}},
      {"no-ttl", {"~*", "&*", "+@all", "-pexpire"}},
  };
  for (const auto& [name, rights] : users) {
    CAPTURE(name);
    Words words{"ACL", "SETUSER", name, "on", ">pw"};
    words.insert(words.end(), rights.begin(), rights.end());
    REQUIRE(redis.cli(words) == "OK");
    Rlock rlock = as(redis, name + ":pw", {"run", "-k", "k", "--", "echo", "ran"});
    CHECK(rlock.exit_code(kDeadline) == 77);
    CHECK(rlock.out().empty());
    CHECK_MESSAGE(contains(rlock.err(), "ACCESS RIGHTS in rlock-redisson(7)"), rlock.err());
    CHECK(split(rlock.err(), '\n').size() == 2);
    CHECK_FALSE(redis.has("k"));
  }
}

TEST_CASE("a user without the right to ask for the time takes nothing, of any type") {
  RedisServer redis;
  redis.cli({"ACL", "SETUSER", "no-clock", "on", ">pw", "~*", "&*", "+@all", "-time"});
  redis.cli({"SET", "slots", "3"});
  for (const std::string type : {"lock", "fair", "fenced", "spin", "read", "write", "plain"}) {
    CAPTURE(type);
    Rlock rlock = as(redis, "no-clock:pw", {"lock", "acquire", type, "--lease", "1m", "--type", type});
    CHECK(rlock.exit_code(kDeadline) == 77);
    CHECK(redis.keys() == "slots\n");
  }
  CHECK(as(redis, "no-clock:pw", {"sem", "acquire", "slots"}).exit_code(kDeadline) == 77);
  CHECK(redis.cli({"GET", "slots"}) == "3");
}

TEST_CASE("a user who may not note the release of a permit releases none") {
  RedisServer redis;
  redis.cli({"ACL", "SETUSER", "no-notes", "on", ">pw", "~*", "&*", "+@all", "-set"});
  REQUIRE(as(redis, "", {"permit", "init", "pool", "1"}).exit_code(kDeadline) == 0);
  Rlock acquire = as(redis, "", {"permit", "acquire", "pool", "--lease", "1m"});
  REQUIRE(acquire.exit_code(kDeadline) == 0);
  const std::string id = acquire.out().substr(0, 32);
  CHECK(as(redis, "no-notes:pw", {"permit", "release", "pool", id}).exit_code(kDeadline) == 77);
  CHECK(redis.cli({"ZCARD", "{pool}:timeout"}) == "1");
  CHECK(redis.cli({"GET", "pool"}) == "0");
}

TEST_CASE("a user without rights for channels polls, is told so once, and releases all the same") {
  RedisServer redis;
  if (RedisServer::version() < 60200) return skipped("Redis before 6.2 has no channel permissions");
  redis.cli({"ACL", "SETUSER", "mute", "on", ">pw", "~*", "resetchannels", "+@all"});
  redis.cli({"HSET", "k", "somebody:1", "1"});
  redis.cli({"PEXPIRE", "k", "60000"});
  Rlock waiter = as(redis, "mute:pw", {"run", "-k", "k", "--", "echo", "ran"});
  REQUIRE(eventually([&] { return contains(waiter.err(), "refuses the subscription"); }, kDeadline));
  redis.cli({"CLIENT", "KILL", "TYPE", "normal"});  // a new connection must not repeat the message
  redis.del("k");
  CHECK(waiter.exit_code(kDeadline) == 0);
  CHECK(waiter.out() == "ran\n");
  CHECK(occurrences(waiter.err(), "refuses the subscription") == 1);
  CHECK(occurrences(waiter.err(), "could not wake up its waiters") == 1);
  CHECK_FALSE(redis.has("k"));
}

TEST_CASE(
    "a password that is changed while a lock is held is read again, and one that stays wrong is named") {
  RedisServer redis{{.config = {"requirepass first"}}};
  redis.cli({"AUTH", "first"});
  TempDir folder;
  Process::Options options = redis.environment();
  options.env["RLOCK_PASSWORD_FILE"] = folder / "password";
  const auto hold = [&](const std::string& seconds) {
    return Rlock{
        {"run", "--lease", "5s", "-k", "k", "--", "sh", "-c", "echo inside; sleep " + seconds + "; exit 7"},
        options};
  };
  const auto change = [&](const std::string& password) {
    redis.cli({"CONFIG", "SET", "requirepass", password});
    redis.cli({"CLIENT", "KILL", "TYPE", "normal"});
  };
  write_file(folder / "password", "first\n");
  Rlock keeps = hold("7");
  REQUIRE(eventually([&] { return keeps.out() == "inside\n"; }, kDeadline));
  change("second");
  write_file(folder / "password", "second\n");
  CHECK_MESSAGE(keeps.exit_code(kDeadline) == 7, keeps.err());
  CHECK_FALSE(redis.has("k"));

  Rlock loses = hold("60");
  REQUIRE(eventually([&] { return loses.out() == "inside\n"; }, kDeadline));
  change("third");
  CHECK(loses.exit_code(kDeadline) == 125);
  CHECK_MESSAGE(contains(loses.err(), "does not accept this user or its password"), loses.err());
  CHECK_FALSE(contains(loses.err(), "second"));
}

TEST_CASE("a user without a password may log in with any password or none") {
  RedisServer redis;
  redis.cli({"ACL", "SETUSER", "guest", "on", "nopass", "~*", "&*", "+@all"});
  for (const std::string user : {"guest", "guest:", "guest:any"})
    CHECK(as(redis, user, {"run", "-k", "k", "--", "true"}).exit_code(kDeadline) == 0);
}

TEST_CASE("each refusal of a server ends a run with its exit code and a helpful sentence") {
  struct Refusal {
    std::string error;
    int status;
    std::string sentence;
  };
  const std::string place = "ERR Error running script (call to f_0123): @user_script:1: ";
  const std::vector<Refusal> refusals{
      {"LOADING Redis is loading the dataset in memory", 69, "still loading its data"},
      {"BUSY Redis is busy running a script.", 69, "SCRIPT KILL ends it"},
      {"OOM command not allowed when used memory > 'maxmemory'.", 69, "raise its maxmemory"},
      {place + "@user_script: 1: -OOM command not allowed when used memory > 'maxmemory'.", 69,
       "raise its maxmemory"},
      {"MISCONF Redis is configured to save RDB snapshots", 69, "its log says why"},
      {place + "@user_script: 1: -MISCONF Redis is configured to save", 69, "its log says why"},
      {"READONLY You can't write against a read only replica.", 69, "name its primary"},
      {place + "@user_script: 1: -READONLY You can't write against a read only replica.", 69,
       "name its primary"},
      {"MASTERDOWN Link with MASTER is down", 69, "lost its primary"},
      {"NOREPLICAS Not enough good replicas to write.", 69, "min-replicas-to-write"},
      {"NOSCRIPT No matching script.", 69, "does not keep the scripts"},
      {"NOAUTH Authentication required.", 77, "--password-file"},
      {"NOPERM this user has no permissions to run the 'evalsha' command", 77, "ACCESS RIGHTS"},
      {place + "-NOPERM this user has no permissions", 77, "ACCESS RIGHTS"},
      {place + "@user_script: 1: The user executing the script can't run this command or subcommand", 77,
       "ACCESS RIGHTS"},
      {"NOPERM ACL failure in script: User u has no permissions to run the 'pexpire' command", 77,
       "ACCESS RIGHTS"},
      {"WRONGTYPE Operation against a key holding the wrong kind of value script: 0123, on @user_script:1.",
       65, "something else stands under the key"},
  };
  for (const Refusal& refusal : refusals) {
    // A sanitized rlock starts slowly, and a wait of a second would print a wait line.
    for (const Words& wait : {Words{"-n"}, Words{"--wait", kSanitized ? "800ms" : "300ms"}}) {
      CAPTURE(refusal.error);
      CAPTURE(wait.front());
      FakeRedis fake;
      for (const char* command : {"EVALSHA", "EVAL"}) fake.on(command, wire::error(refusal.error));
      Process::Options options = Rlock::clean_environment();
      options.env["RLOCK_URL"] = fake.url();
      Words words{"run", "-k", "k"};
      words.insert(words.end(), wait.begin(), wait.end());
      words.insert(words.end(), {"--", "echo", "ran"});
      Rlock rlock{words, options};
      CHECK(rlock.exit_code(kDeadline) == refusal.status);
      CHECK(rlock.out().empty());
      CHECK_MESSAGE(contains(rlock.err(), refusal.sentence), rlock.err());
      CHECK(split(rlock.err(), '\n').size() == 2);
      CHECK_FALSE(contains(rlock.err(), "user_script:1."));
    }
  }
}
