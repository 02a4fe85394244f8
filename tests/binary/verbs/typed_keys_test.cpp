// Keys are shown as users type them: under the prefix in force, and never as a pattern.

#include <doctest/doctest.h>

#include "base/key_text.h"
#include "support/contains.h"
#include "support/json_names.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"

using namespace rlock;
using namespace rlock::test;

TEST_CASE("a key is typed without the prefix in force, and keys without that prefix cannot be typed") {
  set_key_text("app:", "--prefix app: ");
  CHECK(typed(LockName{"app:deploy"}) == "deploy");
  CHECK_FALSE(typed(LockName{"deploy"}).has_value());
  CHECK_FALSE(typed(LockName{"app:"}).has_value());
  CHECK(quoted(LockName{"app:a b"}) == "'a b'");
  CHECK(as_typed(LockName{"other:deploy"}) == "other:deploy");
  CHECK(words_for(LockName{"app:-it's"}) == "--prefix app: --key='-it'\\''s'");
  set_key_text("", "");
  CHECK(words_for(LockName{"app:deploy"}) == "app:deploy");
}

TEST_CASE("keys that inspect prints under a prefix can be typed back under it") {
  RedisServer redis;
  Process::Options options = redis.environment();
  options.env["RLOCK_PREFIX"] = "app:";
  const auto output = [&](const Words& words) {
    Rlock rlock{words, options};
    CHECK(rlock.exit_code() == 0);
    return rlock.out();
  };
  REQUIRE(Rlock{{"lock", "acquire", "deploy", "--lease", "1m"}, options}.exit_code() == 0);
  CHECK(output({"inspect", "-q"}) == "deploy\n");
  CHECK(output({"inspect"}).starts_with("deploy        lock, held\n"));
  CHECK(output({"lock", "status", "deploy"}).starts_with("deploy        lock, held\n"));
  const ParsedJson key = ParsedJson::parse(output({"inspect", "--json"}))["keys"][0];
  CHECK(key["key"] == "app:deploy");
  CHECK(key["name"] == "deploy");

  Rlock vain{{"run", "-n", "-k", "deploy", "--", "true"}, options};
  CHECK(vain.exit_code() == 75);
  CHECK(contains(vain.err(), "'deploy' is held by "));
  CHECK_FALSE(contains(vain.err(), "app:deploy"));
  Rlock absent{{"sem", "acquire", "slots"}, options};
  CHECK(absent.exit_code() == 1);
  CHECK(contains(absent.err(), "rlock sem init --prefix app: slots N\n"));
  CHECK(output({"unlock", "--yes", "deploy"}).empty());
}

TEST_CASE("every document with a key has its name, too, as it is typed") {
  RedisServer redis;
  Process::Options options = redis.environment();
  options.env["RLOCK_PREFIX"] = "app:";
  for (const Words& words :
       {Words{"sem", "init", "s", "1"}, Words{"permit", "init", "p", "1"}, Words{"latch", "set", "l", "1"}})
    REQUIRE(Rlock{words, options}.exit_code() == 0);
  for (const Words& words :
       {Words{"lock", "acquire", "k", "--json", "--lease", "1m"}, Words{"lock", "status", "k", "--json"},
        Words{"sem", "status", "s", "--json"}, Words{"sem", "drain", "s", "--json"},
        Words{"permit", "acquire", "p", "--json", "--lease", "1m"}, Words{"permit", "status", "p", "--json"},
        Words{"latch", "status", "l", "--json"}, Words{"inspect", "k", "--json"},
        Words{"unlock", "k", "--yes", "--json"}}) {
    Rlock rlock{words, options};
    static_cast<void>(rlock.exit_code());
    const ParsedJson document = ParsedJson::parse(rlock.out());
    const ParsedJson& about = document.contains("keys") ? document["keys"][0] : document;
    CAPTURE(document.dump());
    CHECK(about["key"] == "app:" + about["name"].get<std::string>());
  }
}

TEST_CASE("a typed pattern is a free key, and a line on stderr says so") {
  RedisServer redis;
  acquired(redis, "orders:1");
  for (const Words& words :
       {Words{"inspect", "orders:*"}, Words{"inspect", "order?:1"}, Words{"inspect", "[a-z]*"}}) {
    Rlock inspect{words, redis.environment()};
    CHECK(inspect.exit_code() == 0);
    CHECK(contains(inspect.out(), "free\n"));
    CHECK(inspect.err() == "rlock: '" + words[1] +
                               "' is no pattern; to see all keys that match it: rlock list '" + words[1] +
                               "'\n");
  }
  Rlock status = redis.rlock("lock", "status", "orders:*");
  CHECK(status.exit_code() == 1);
  CHECK(contains(status.err(), "'orders:*' is no pattern; "));
  Rlock unlock = redis.rlock("unlock", "--yes", "orders:*");
  CHECK(unlock.exit_code() == 1);
  CHECK(contains(unlock.err(), "'orders:*' is no pattern; "));
  acquired(redis, "what?");
  Rlock held = redis.rlock("inspect", "what?");
  CHECK(held.exit_code() == 0);
  CHECK(held.err().empty());
  Rlock quiet = redis.rlock("inspect", "-q", "orders:*");
  CHECK(quiet.exit_code() == 0);
  CHECK(quiet.err().empty());
}

TEST_CASE("no verb prints a remedy that it refuses") {
  RedisServer redis;
  acquired(redis, "deploy");
  for (const Words& words :
       {Words{"permit", "acquire", "-n", "deploy", "--lease", "1m"}, Words{"sem", "acquire", "-n", "deploy"},
        Words{"latch", "wait", "-n", "deploy"}}) {
    Rlock rlock{words, redis.environment()};
    CHECK(rlock.exit_code() == 65);
    CHECK(contains(rlock.err(), "'deploy' holds a lock, not "));
    CHECK_FALSE(contains(rlock.err(), "--type"));
  }
}
