// lock acquire --while-pid --owner: an owner that the user named holds again and again, or for several scripts.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "support/contains.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"
#include "support/script.h"

using namespace rlock::test;
using namespace std::chrono_literals;

TEST_CASE("a keeper does not take an earlier release of the same --owner for that of its own hold") {
  RedisServer redis;
  const std::string acquire = "\"$RLOCK\" lock acquire k --owner w1 --while-pid $$ --lease 3s || exit 9\n";
  ShellScript script{redis, acquire + "\"$RLOCK\" lock release k --owner w1 || exit 8\n" + acquire +
                                ": >$FOLDER/on\nexec sleep 60\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
  redis.cli({"DEL", "k"});
  CHECK(script.process().exit_code(20s) == 128 + SIGTERM);
}

TEST_CASE("a keeper that could not learn of an earlier release does not take it for that of its own hold") {
  RedisServer redis;
  const std::string acquire = "\"$RLOCK\" lock acquire k --owner w1 --while-pid $$ --lease 3s || exit 9\n";
  CHECK(status_of(redis, {"lock", "acquire", "k", "--owner", "w1", "--lease", "1m"}) == 0);
  redis.cli({"SET", "redisson_unlock_latch:{k}:released:w1:number", "1"});
  redis.cli({"DEL", "k"});
  redis.cli({"ACL", "SETUSER", "default", "resetkeys", "~k", "~rlock:*", "~redisson_lock*",
             "~redisson_unlock_latch:{k}:[0-9a-f]*", "~redisson_unlock_latch:{k}:of:*",
             "~redisson_unlock_latch:{k}:line*"});
  ShellScript script{redis, acquire + ": >$FOLDER/on\nexec sleep 60\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 20s));
  redis.cli({"ACL", "SETUSER", "default", "~*"});
  redis.cli({"DEL", "k"});
  CHECK(script.process().exit_code(20s) == 128 + SIGTERM);
}

TEST_CASE("a keeper renews for an --owner, too") {
  RedisServer redis;
  ShellScript script{
      redis, "\"$RLOCK\" lock acquire k --owner w1 --lease 1s --while-pid $$ || exit 9\nsleep 1.2\nexit 7\n"};
  CHECK(script.process().exit_code() == 7);
  CHECK_MESSAGE(script.process().err().empty(), script.process().err());
  CHECK(eventually([&] { return !redis.has("k"); }, 5s));
}

TEST_CASE("the keeper of the second hold of an --owner notices its release as that of the first") {
  RedisServer redis;
  const std::string section =
      "\"$RLOCK\" lock acquire k --owner w1 --while-pid $$ --lease 2s || exit 9\n"
      "\"$RLOCK\" lock release k --owner w1 || exit 8\n";
  ShellScript script{redis, "mkfifo $FOLDER/go\n" + section + section + section +
                                ": >$FOLDER/on\nread -r line <$FOLDER/go\nexit 7\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
  CHECK(eventually([&] { return script.keeper() == 0; }, 5s));
  write_file(script.folder() + "/go", "go\n");
  CHECK(script.process().exit_code() == 7);
  CHECK_MESSAGE(script.process().err().empty(), script.process().err());
}

TEST_CASE("a keeper learns that its hold was released after acquires of the same --owner without a keeper") {
  RedisServer redis;
  for (const std::string more : {" --again", ""}) {
    CAPTURE(more);
    const std::string acquire = "\"$RLOCK\" lock acquire k --owner w1 ";
    const std::string release = "\"$RLOCK\" lock release -q k --owner w1\n";
    ShellScript script{redis, acquire + "--while-pid $$ --lease 2s || exit 9\n" + acquire + "--lease 20s" +
                                  more + " || exit 8\n" + acquire + "--lease 20s" + more + " || exit 8\n" +
                                  release + release + release + "sleep 2\nexit 7\n"};
    CHECK(script.process().exit_code() == 7);
    CHECK(script.process().err().empty());
    CHECK_FALSE(redis.has("k"));
  }
}

TEST_CASE("a keeper that has lost its lock leaves it to a retry with the same --owner") {
  RedisServer redis;
  const std::string acquire =
      "\"$RLOCK\" lock acquire k --owner ci --while-pid $$ || exit 9\n: >$FOLDER/on\n";
  ShellScript first{redis, acquire + "exec sleep 60\n"},
      second{redis, "until [ -e $FOLDER/go ]; do sleep 0.01; done\n" + acquire + "exec sleep 60\n"};
  REQUIRE(eventually([&] { return ::access((first.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
  CHECK(status_of(redis, {"unlock", "-y", "k"}) == 0);
  write_file(second.folder() + "/go", "");
  REQUIRE(eventually([&] { return ::access((second.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
  CHECK(first.process().exit_code(20s) == 128 + SIGTERM);
  CHECK(eventually([&] { return first.process().family().empty(); }, 10s));
  CHECK(redis.cli({"HVALS", "k"}) == "1");
  CHECK(second.keeper() > 0);
  second.process().signal(SIGTERM);
  CHECK(second.process().exit_code() == 128 + SIGTERM);
}

TEST_CASE("of two scripts with one --owner, the one that ends first leaves the lock to the other") {
  RedisServer redis;
  int past = 0;  // how many holds have ended
  for (const std::string type : {"lock", "read", "write", "fair", "fenced", "plain"}) {
    for (const bool killed : {false, true}) {
      CAPTURE(type);
      CAPTURE(killed);
      const std::string text = "mkfifo $FOLDER/go\n\"$RLOCK\" lock acquire k --owner me --lease 3s --type " +
                               type + " --while-pid $$ >$FOLDER/owner || exit\nread -r line <$FOLDER/go\n";
      ShellScript first{redis, text}, second{redis, text};
      for (ShellScript* script : {&first, &second})
        REQUIRE(eventually([&] { return script->guardian() != 0 && !script->file("owner").empty(); }, 10s));
      if (killed)
        ::kill(first.keeper(), SIGKILL);
      else
        write_file(first.folder() + "/go", "go\n");
      REQUIRE(eventually([&] { return first.process().family().empty(); }, 10s));
      const auto ends = [&] { return std::stoi(redis.cli({"ZCARD", "rlock:history:{k}"})); };
      CHECK(ends() == past);  // the end of the first script was none of the hold
      const std::string other = type == "read" ? "write" : type;  // readers share the lock
      CHECK(status_of(redis, {"run", "-qn", "-k", "k", "--type", other, "--", "true"}) == 75);
      write_file(second.folder() + "/go", "go\n");
      CHECK(second.process().exit_code() == 0);
      CHECK(eventually([&] { return !redis.has("k"); }, 2s));
      CHECK(second.process().err() == "");
      ++past;
      CHECK(eventually([&] { return ends() == past; }, 2s));
    }
  }
}

TEST_CASE("of two scripts with one --owner, people see the one that is left") {
  RedisServer redis;
  const std::string text =
      "mkfifo $FOLDER/go\n\"$RLOCK\" lock acquire k --owner me --while-pid $$ >$FOLDER/owner || exit\n"
      "read -r line <$FOLDER/go\n";
  ShellScript one{redis, text}, two{redis, text};
  for (ShellScript* script : {&one, &two})
    REQUIRE(eventually([&] { return !script->file("owner").empty(); }, 10s));
  REQUIRE(eventually(
      [&] { return redis.cli({"PUBSUB", "NUMSUB", "redisson_lock__channel:{k}:me"}).ends_with("2"); }, 10s));
  const auto shows = [&](ShellScript& script) {
    Rlock inspect = redis.rlock("inspect", "k");
    return inspect.exit_code() == 0 &&
           contains(inspect.out(), fmt::format("pid {} ", script.process().pid()));
  };
  // Each keeper renews when it begins to listen. Then people see the one that renewed last, until the next renewal.
  bool sees_one = false;
  REQUIRE(eventually(
      [&] {
        sees_one = shows(one);
        return throughout([&] { return shows(one) == sees_one; }, 1s);
      },
      10s));
  write_file((sees_one ? one : two).folder() + "/go", "go\n");
  CHECK(eventually([&] { return shows(sees_one ? two : one); }, 5s));  // its next renewal would be after 10 s
}

TEST_CASE("a keeper that does not hear of the release of its hold leaves a later hold of the same --owner") {
  RedisServer redis;
  redis.cli({"ACL", "SETUSER", "deaf", "on", "nopass", "~*", "&*", "+@all", "-subscribe", "-ssubscribe"});
  ShellScript script{redis,
                     "hold='lock acquire k --owner w1 --lease 1m'\n"
                     "RLOCK_URL=unix://deaf:pw@" +
                         redis.socket() +
                         " \"$RLOCK\" $hold --while-pid $$ || exit 9\n"
                         "\"$RLOCK\" lock release k --owner w1 || exit 8\n\"$RLOCK\" $hold || exit 7\n"};
  CHECK(script.process().exit_code(20s) == 0);
  CHECK(eventually([&] { return script.process().family().empty(); }, 10s));
  CHECK(redis.has("k"));
}
