// Searches over a Redis that answers from a list.

#include "cmd/ask/search.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "support/found_keys.h"
#include "support/list_redis.h"

using namespace rlock;
using namespace rlock::test;

namespace {

using Names = std::set<LockName>;

}  // namespace

TEST_CASE("a search whose time is over has what it found until then") {
  ListRedis redis;
  Session session{servers_of(redis), redis};
  for (int i = 1; i <= 3; ++i) redis.answers(scanned("7", {beside(i)}));
  SearchOptions options{.until = plus(session.loop.now(), Milliseconds{10'000})};
  options.progress = [&](const SearchProgress&) { redis.loop().tick(Milliseconds{6'000}); };
  const FoundKeys found = search(session, options);
  CHECK(found.cut_short == CutShort::late);
  CHECK(found.names == Names{named(1), named(2)});
}

TEST_CASE("a search has no more names than its memory takes") {
  ListRedis redis;
  Session session{servers_of(redis), redis};
  for (int i = 1; i <= 3; ++i) redis.answers(scanned("7", {beside(i)}));
  const FoundKeys found = search(session, {.most_bytes = 200, .until = kNever});
  CHECK(found.cut_short == CutShort::too_many);
  CHECK(found.names == Names{named(1), named(2)});
}

TEST_CASE("a search asks about many keys in calls of 200") {
  ListRedis redis;
  Session session{servers_of(redis), redis};
  std::vector<std::string> keys;
  for (int i = 0; i < 450; ++i) keys.push_back("n" + std::to_string(i));
  redis.answers(scanned("0", keys));
  for (const std::size_t asked : {200U, 200U, 50U})
    redis.answers(Reply{std::vector<Reply>(asked, Reply{"number"})});
  const FoundKeys found = search(session, {.what = SearchFor::numbers, .until = kNever});
  CHECK(redis.log ==
        std::vector<std::string>{"SCAN", "inspect/content", "inspect/content", "inspect/content"});
  CHECK(found.names == Names{keys.begin(), keys.end()});
  CHECK_FALSE(found.cut_short);
}

TEST_CASE("a search of several servers does without one that is silent, and fails without two of three") {
  ListRedis redis{3};
  Session session{servers_of(redis), redis};
  const Reply pong{"PONG"};
  SUBCASE("one") {
    redis.answers({pong, std::nullopt, pong});
    redis.answers(scanned("0", {beside(1)}));
    redis.answers(scanned("0", {beside(1), beside(2)}));
    const FoundKeys found = search(session, {.until = kNever});
    CHECK(found.names == Names{named(1), named(2)});
    CHECK(found.silent == std::set<std::string>{redis.named(1, "no answer")});
    CHECK(redis.asked.back() == std::vector<bool>{false, false, true});
  }
  SUBCASE("one that answers, but not during its scan") {
    redis.answers(pong);
    redis.answers(scanned("0", {beside(1)}));
    redis.is_silent();
    redis.answers(scanned("0", {beside(2)}));
    const FoundKeys found = search(session, {.until = kNever});
    CHECK(found.names == Names{named(1), named(2)});
    CHECK(found.silent == std::set<std::string>{redis.named(1, "no answer")});
  }
  SUBCASE("two") {
    redis.answers({std::nullopt, pong, std::nullopt});
    CHECK_THROWS_AS(search(session, {.until = kNever}), Error);
  }
}
