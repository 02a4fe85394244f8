// rlock metrics, as a collector of text files reads it.

#include <doctest/doctest.h>

#include "support/cli.h"
#include "support/contains.h"
#include "support/redis_server.h"

using namespace rlock::test;

TEST_CASE("metrics prints gauges of rlock's keys, and with --all also of others") {
  RedisServer redis;
  Rlock acquire = redis.rlock("lock", "acquire", "deploy", "--lease", "10m");
  REQUIRE(acquire.exit_code() == 0);
  redis.cli({"SET", "slots", "3"});
  const auto text = [&](const Words& words) {
    Rlock metrics{words, redis.environment()};
    CHECK(metrics.exit_code() == 0);
    CHECK(metrics.err().empty());
    return metrics.out();
  };
  const std::string ours = text({"metrics"});
  CHECK(ours.starts_with("# HELP rlock_held "));
  CHECK(contains(ours, "\nrlock_held{key=\"deploy\",type=\"lock\"} 1\n"));
  CHECK(contains(ours, "\nrlock_age_seconds{key=\"deploy\",type=\"lock\"} "));
  CHECK_FALSE(contains(ours, "slots"));
  const std::string all = text({"metrics", "--all"});
  CHECK(contains(all, "\nrlock_permits_available{key=\"slots\",type=\"semaphore\"} 3\n"));
  CHECK(text({"metrics", "x*"}) ==
        "# HELP rlock_search_complete Whether all keys were looked at.\n"
        "# TYPE rlock_search_complete gauge\nrlock_search_complete 1\n");
}

TEST_CASE("metrics says when its search was cut short, in the text too") {
  RedisServer redis;
  Rlock metrics = redis.rlock("metrics", "--all", "--scan-time", "1ms");
  REQUIRE(metrics.exit_code() == 0);
  const bool cut = contains(metrics.err(), "cut short");
  CHECK(metrics.out().ends_with(cut ? "complete 0\n" : "complete 1\n"));
}
