// Removal by force, with rlock unlock and the delete verbs: their refusals, questions and messages.

#include <doctest/doctest.h>

#include <set>
#include <sstream>

#include "support/contains.h"
#include "support/eventually.h"
#include "support/json_names.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"

using namespace rlock::test;

namespace {

/// The environment of a process without a terminal.
Process::Options without_terminal(const RedisServer& redis) {
  Process::Options options = redis.environment();
  options.own_session = true;
  return options;
}

/// The fields in the section UNLOCK of rlock-json(5), by their depth.
std::vector<std::set<std::string>> schema_of_unlock() {
  std::string page = read_file(std::string{RLOCK_SOURCE_FOLDER} + "/man/rlock-json.5");
  std::istringstream lines{page.substr(page.find(".nf\n", page.find(".SH UNLOCK")) + 4)};
  std::vector<std::set<std::string>> fields(2);
  for (std::string line; std::getline(lines, line) && line != ".fi";) {
    const std::size_t depth = line.find_first_not_of(' ');
    fields.at(depth / 2).insert(line.substr(depth, line.find(' ', depth) - depth));
  }
  return fields;
}

/// The document of rlock unlock --json, checked against the manual.
ParsedJson removed(const RedisServer& redis, const Words& more, int status) {
  Words words{"unlock", "--yes", "--json"};
  words.insert(words.end(), more.begin(), more.end());
  Rlock unlock{words, redis.environment()};
  CHECK(unlock.exit_code() == status);
  const ParsedJson document = ParsedJson::parse(unlock.out());
  const auto schema = schema_of_unlock();
  CHECK(names_of(document) == schema[0]);
  CHECK(document["v"] == 1);
  for (const ParsedJson& key : document["keys"]) {
    CHECK(names_of(key) == schema[1]);
    CHECK(key["owners"].is_array());
  }
  return document["keys"];
}

}  // namespace

TEST_CASE("unlock names the removed locks and their owners") {
  RedisServer redis;
  acquired(redis, "deploy", {"--owner", "ci-42"});
  Rlock unlock = redis.rlock("unlock", "--yes", "deploy");
  CHECK(unlock.exit_code() == 0);
  CHECK(unlock.err().ends_with("\nrlock: removed 'deploy' (ci-42)\n"));
  CHECK(unlock.out().empty());
}

TEST_CASE("unlock takes several keys, and removes none if one of them is no lock") {
  RedisServer redis;
  acquired(redis, "a");
  acquired(redis, "b");
  redis.cli({"RPUSH", "list", "x"});
  CHECK(status_of(redis, {"unlock", "--yes", "a", "list", "b"}) == 65);
  CHECK(redis.has("a"));
  Rlock both = redis.rlock("unlock", "--yes", "a", "-k", "b", "free");
  CHECK(both.exit_code() == 1);
  CHECK(contains(both.err(), "rlock: removed 'a' ("));
  CHECK(contains(both.err(), "rlock: removed 'b' ("));
  CHECK(contains(both.err(), "rlock: 'free' is free\n"));
  CHECK_FALSE(redis.has("a"));
  CHECK_FALSE(redis.has("b"));
  CHECK(status_of(redis, {"unlock", "--yes"}) == 64);
}

TEST_CASE("unlock --json reports each key's end, as rlock-unlock(1) describes it") {
  RedisServer redis;
  acquired(redis, "app:a", {"--owner", "ci-1"});
  acquired(redis, "app:b", {"--owner", "ci-2"});
  const ParsedJson keys = removed(redis, {"--prefix", "app:", "--if-owner", "ci-1", "a", "b", "c"}, 1);
  REQUIRE(keys.size() == 3);
  CHECK(keys[0] == ParsedJson{{"key", "app:a"},
                              {"name", "a"},
                              {"outcome", "removed"},
                              {"owners", ParsedJson::array({"ci-1"})},
                              {"error", nullptr}});
  CHECK(keys[1]["outcome"] == "other-owner");
  CHECK(keys[1]["owners"] == ParsedJson::array({"ci-2"}));
  CHECK(keys[2]["outcome"] == "free");
  CHECK(keys[2]["owners"].empty());
  CHECK(removed(redis, {"app:b"}, 0)[0]["outcome"] == "removed");
}

TEST_CASE("unlock removes no unknown text unless --type plain is given") {
  RedisServer redis;
  redis.cli({"SET", "str", "a page of HTML"});
  Rlock refused = redis.rlock("unlock", "-y", "str");
  CHECK(refused.exit_code() == 65);
  CHECK(contains(refused.err(), "'str' is a text without notes of rlock"));
  CHECK(contains(refused.err(), "rlock unlock --type plain str\n"));
  CHECK(redis.has("str"));
  CHECK(status_of(redis, {"unlock", "-y", "--type", "lock", "str"}) == 65);
  CHECK(status_of(redis, {"unlock", "-y", "--type", "plain", "str"}) == 0);
  CHECK_FALSE(redis.has("str"));

  acquired(redis, "ours", {"--type", "plain"});
  CHECK(status_of(redis, {"unlock", "-y", "ours"}) == 0);
  acquired(redis, "hash");
  CHECK(status_of(redis, {"unlock", "-y", "--type", "plain", "hash"}) == 65);
}

TEST_CASE("the remedy for a plain lock that never frees itself is one that unlock takes") {
  RedisServer redis;
  redis.cli({"SET", "str", "token"});
  Rlock vain = redis.rlock("run", "-n", "--type", "plain", "-k", "str", "--", "true");
  CHECK(vain.exit_code() == 75);
  CHECK(
      contains(vain.err(), "rlock: if the holder is dead, remove the lock: rlock unlock --type plain str\n"));
}

TEST_CASE("permit delete asks only if permits are held") {
  RedisServer redis;
  REQUIRE(status_of(redis, {"permit", "init", "seats", "2"}) == 0);
  Rlock acquire = redis.rlock("permit", "acquire", "seats", "--lease", "1m");
  REQUIRE(acquire.exit_code() == 0);
  Rlock refused{{"permit", "delete", "seats"}, without_terminal(redis)};
  CHECK(refused.exit_code() == 64);
  CHECK(contains(refused.err(), "seats         permit, 1 of 2 taken\n"));
  CHECK(contains(refused.err(), "to go on without a question: --yes"));
  CHECK(redis.has("seats"));
  {
    Pty pty{{rlock_binary(), "permit", "delete", "seats"}, redis.environment()};
    pty.expect("Remove a pool of permits 'seats'? [y/N] ");
    pty.type("n\r");
    CHECK(pty.exit_code() == 1);
    CHECK(redis.has("seats"));
  }
  CHECK(status_of(redis, {"permit", "delete", "--yes", "seats"}) == 0);
  CHECK_FALSE(redis.has("seats"));

  REQUIRE(status_of(redis, {"permit", "init", "idle", "2"}) == 0);
  CHECK(Rlock{{"permit", "delete", "idle"}, without_terminal(redis)}.exit_code() == 0);
}

TEST_CASE("sem delete asks, because a semaphore does not record its holders") {
  RedisServer redis;
  REQUIRE(status_of(redis, {"sem", "init", "slots", "2"}) == 0);
  Rlock refused{{"sem", "delete", "slots"}, without_terminal(redis)};
  CHECK(refused.exit_code() == 64);
  CHECK(contains(refused.err(), "cannot know whether clients hold permits of this semaphore"));
  {
    Pty pty{{rlock_binary(), "sem", "delete", "slots"}, redis.environment()};
    pty.expect("[y/N] ");
    pty.type("y\r");
    CHECK(pty.exit_code() == 0);
  }
  CHECK_FALSE(redis.has("slots"));
  CHECK(Rlock{{"sem", "delete", "slots"}, without_terminal(redis)}.exit_code() == 1);
}
