// A key with more holders or waiters than an inspection reads: it is held, all count, and each is found by its name.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "support/contains.h"
#include "support/eventually.h"
#include "support/profile.h"
#include "support/redis_server.h"
#include "support/result.h"

using namespace rlock::test;

namespace {

nlohmann::json inspected(const RedisServer& redis, const std::string& key) {
  const Result inspect = result_of({"inspect", "--json", key}, redis.environment());
  CHECK(inspect.status == 0);
  return nlohmann::json::parse(inspect.out).at("keys").at(0);
}

}  // namespace

TEST_CASE("with two thousand readers a lock is held, and each of them is found and can be removed") {
  RedisServer redis;
  redis.cli({"EVAL",
             "redis.call('hset', 'k', 'mode', 'read')\n"
             "for i = 1, 2000 do\n"
             "  redis.call('hset', 'k', 'o' .. i, '1')\n"
             "  redis.call('set', '{k}:o' .. i .. ':rwlock_timeout:1', '1', 'px', 3600000)\n"
             "end\n"
             "return redis.call('pexpire', 'k', 3600000)",
             "0"});
  const auto environment = redis.environment();

  CHECK(result_of({"lock", "status", "k"}, environment).status == 0);
  for (const char* owner : {"o1", "o2000", "o777"})
    CHECK(result_of({"lock", "status", "-q", "k", "--owner", owner}, environment).status == 0);
  CHECK(result_of({"lock", "status", "-q", "k", "--owner", "nobody"}, environment).status == 1);
  const nlohmann::json seen = inspected(redis, "k");
  CHECK(seen.at("state") == "held");
  CHECK(seen.at("holders").size() > 900);
  CHECK(seen.at("holders").size() + seen.at("more_holders").get<std::size_t>() == 2000);
  CHECK(contains(result_of({"inspect", "k"}, environment).out, " more\n"));
  const Result busy = result_of({"run", "-n", "-x", "-k", "k", "--", "true"}, environment);
  CHECK_MESSAGE(contains(busy.err, " and 1997 more"), busy.err);  // three have a name

  const Result stop = result_of({"stop", "k"}, environment);
  CHECK(stop.status == 65);
  CHECK_MESSAGE(
      contains(stop.err, "'k' has 2000 holders, more than rlock can ask: name one by --if-owner ID"),
      stop.err);
  const Result one = result_of({"unlock", "-y", "k", "--if-owner", "o777"}, environment);
  CHECK_MESSAGE(one.status == 0, one.err);
  CHECK(redis.cli({"HEXISTS", "k", "o777"}) == "0");
  CHECK(redis.cli({"HLEN", "k"}) == "2000");
  CHECK(result_of({"unlock", "-y", "-q", "k"}, environment).status == 0);
  CHECK_FALSE(redis.has("k"));
}

TEST_CASE(
    "of very many readers with facts, the facts of a named one are read, and a removal reaches all that it has read") {
  RedisServer redis;
  redis.cli(
      {"EVAL",
       "for _, key in ipairs({'many', 'few'}) do\n"
       "  redis.call('hset', key, 'mode', 'read')\n"
       "  for i = 1, key == 'many' and 6000 or 300 do\n"
       "    redis.call('hset', key, 'o' .. i, '1')\n"
       R"(    redis.call('hset', 'rlock:meta:{' .. key .. '}', 'o' .. i, '{"since":1,"renewed":1,"lease_ms":60000,)"
       R"("host":"h","pid":1,"user":"u","renews":false}'))"
       "\n  end\n"
       "  redis.call('pexpire', key, 3600000)\n"
       "end",
       "0"});
  const auto environment = redis.environment();
  for (const char* owner : {"o1", "o3000", "o6000"}) {
    const Result stop = result_of({"stop", "many", "--if-owner", owner}, environment);
    CHECK(stop.status == 65);
    CHECK_MESSAGE(contains(stop.err, "the script that acquired it takes no requests"), stop.err);
  }
  CHECK(result_of({"unlock", "-y", "-q", "few"}, environment).status == 0);
  CHECK(eventually(
      [&] { return !redis.has("rlock:meta:{few}"); }));  // the server may still read behind its answer
}

TEST_CASE("a writer that also reads is found among two thousand readers") {
  RedisServer redis;
  redis.cli({"EVAL",
             "redis.call('hset', 'k', 'mode', 'write', 'w:1:write', '1')\n"
             "for i = 1, 2000 do redis.call('hset', 'k', 'o' .. i, '1') end\n"
             "return redis.call('pexpire', 'k', 3600000)",
             "0"});
  CHECK(result_of({"lock", "status", "-q", "k", "--owner", "w:1"}, redis.environment()).status == 0);
}

TEST_CASE("of three thousand waiters, all are counted") {
  RedisServer redis;
  redis.cli({"EVAL",
             "local now = redis.call('time')[1] * 1000\n"
             "redis.call('hset', 'k', 'a:1', '1')\n"
             "for i = 1, 3000 do\n"
             "  local owner = string.format('%032d:1', i)\n"
             "  redis.call('zadd', 'redisson_unlock_latch:{k}:line', i, owner)\n"
             "  redis.call('hset', 'redisson_unlock_latch:{k}:line:waiters', owner,\n"
             "    (now + 600000) .. ' ' .. i .. ' 1 0 0')\n"
             "end",
             "0"});
  CHECK(inspected(redis, "k").at("subscribers") == 3000);
  const auto environment = redis.environment();
  CHECK(contains(result_of({"inspect", "k"}, environment).out, "  and 2990 more wait: rlock inspect -v\n"));
  CHECK(contains(result_of({"inspect", "-v", "k"}, environment).out, "  and 2000 more wait\n"));
}

TEST_CASE("a permit is found by its id among two thousand") {
  RedisServer redis;
  const auto environment = redis.environment();
  CHECK(result_of({"permit", "init", "p", "2001"}, environment).status == 0);
  CHECK(result_of({"permit", "acquire", "-q", "p", "--count", "1000", "--lease", "1h"}, environment).status ==
        0);
  CHECK(result_of({"permit", "acquire", "-q", "p", "--count", "1000", "--lease", "1h"}, environment).status ==
        0);
  std::string id = result_of({"permit", "acquire", "p", "--lease", "2h"}, environment).out;
  id.pop_back();

  const nlohmann::json seen = inspected(redis, "p");
  CHECK(seen.at("holders").size() + seen.at("more_holders").get<std::size_t>() == 2001);
  const Result stop = result_of({"stop", "p", "--if-owner", id}, environment);
  CHECK_MESSAGE(stop.status == 65, stop.err);
  const Result other = result_of({"unlock", "-y", "p", "--if-owner", "o:1"}, environment);
  CHECK_MESSAGE(contains(other.err, "(rlock has read 1000 of its 2001 permits)"), other.err);
  const Result removed = result_of({"unlock", "-y", "p", "--if-owner", id}, environment);
  CHECK_MESSAGE(removed.status == 0, removed.err);
  CHECK(contains(removed.err, "removed 'p'"));
  CHECK(result_of({"permit", "status", "-q", "p", "--id", id}, environment).status == 1);
}
