#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "base/random.h"
#include "scripts.h"
#include "support/contains.h"
#include "support/line_claim.h"
#include "support/redis_server.h"
#include "sync/calls/keys.h"
#include "sync/calls/line.h"
#include "sync/calls/record_json.h"
#include "sync/kinds/arrival.h"
#include "sync/kinds/fair.h"
#include "sync/records/history.h"

using namespace rlock;
using namespace rlock::test;

namespace {

std::string without_blanks(std::string_view text) {
  std::string rest{text};
  std::erase(rest, ' ');
  return rest;
}

/// Does a script have this part of a statement? The build leaves out some blanks.
void check_in(const Script& script, const std::string& lua) {
  CAPTURE(script.name);
  CAPTURE(lua);
  CHECK(contains(without_blanks(script.source), without_blanks(lua)));
}

std::string argument_of(const Call& call, Parameter name) {
  const auto& names = call.script->args;
  return call.args[static_cast<std::size_t>(std::ranges::find(names, name) - names.begin())];
}

TEST_CASE("every script has the SHA-1 by which the server calls it") {
  RedisServer redis;
  REQUIRE_FALSE(scripts::all.empty());
  for (const Script* script : scripts::all) {
    CAPTURE(script->name);
    CHECK(redis.cli({"SCRIPT", "LOAD", std::string{script->source}}) == script->sha1);
  }
}

TEST_CASE("scripts are sent as statements: no comments, no indentation, no blank lines") {
  for (const Script* script : scripts::all) {
    CAPTURE(script->name);
    const std::string source = '\n' + std::string{script->source};
    for (const char* waste : {"\n--", "  --", "\n ", "\n\t", " \n", "\n\n", "\r"})
      CHECK_FALSE(contains(source, waste));
    CHECK(source.ends_with('\n'));
  }
}

TEST_CASE("the calls for a frozen server of several fit into its first read after it wakes up") {
  // The server reads no further, because its first answers find the socket closed.
  constexpr std::size_t kFirstRead = 16384;
  constexpr std::size_t kKeysAndGreeting = 2048;
  const auto size = [](const Script& script) { return script.source.size(); };
  const std::size_t facts = size(scripts::meta_write) + size(scripts::meta_erase) + kKeysAndGreeting;
  CHECK(size(scripts::quorum_lock_acquire) + size(scripts::quorum_lock_release) + facts <= kFirstRead);
  CHECK(size(scripts::quorum_read_acquire) + size(scripts::quorum_read_release) + facts <= kFirstRead);
  CHECK(size(scripts::quorum_write_acquire) + size(scripts::quorum_write_release) + facts <= kFirstRead);
  CHECK(size(scripts::plain_acquire) + size(scripts::plain_release) + facts <= kFirstRead);
  for (const Script* together : {&scripts::quorum_multi_lock, &scripts::quorum_multi_read,
                                 &scripts::quorum_multi_write, &scripts::multi_plain})
    CHECK(size(*together) + facts <= kFirstRead);  // the release calls the same script, by its hash
}

TEST_CASE("scripts and binary know the same end of a permit without a lease") {
  for (const Script* script : {&scripts::permit_acquire, &scripts::permit_status})
    check_in(*script, fmt::format("local no_lease = {}\n", kNoLease));
}

TEST_CASE("scripts and binary know the same times after which a waiter in a line asks again") {
  check_in(scripts::lock_acquire,
           fmt::format("place <= 5 and place * {} or math.min(20000 + place * 1000, {})",
                       Line::pace({.position = 1}).count(), Line::kSleepsAtMost.count()));
  Busy second;
  Line::move_up(second, {.place = 2, .rest = Milliseconds{0}}, {});
  check_in(scripts::lock_acquire, fmt::format("rest + (place - 1) * {})", second.retry_after->count()));
}

TEST_CASE("scripts and binary know the same number of waiters that listen to all releases") {
  check_in(scripts::lock_acquire, fmt::format("tell_places(line, ahead + 1, {}, rest)", Line::kListening));
  check_in(scripts::lock_acquire,
           fmt::format("for other = place + 1, listed and 0 or {} do", Line::kListening + 1));
  check_in(scripts::lock_release, fmt::format("line.heard <= math.min(length, {})", Line::kListening));
  check_in(scripts::lock_release, fmt::format("(length < {} and", Line::kListening + 1));
}

TEST_CASE("a request of --newest is remembered as long as the newest waiter") {
  const Call call = Arrival{waiting("me:1"), kinds::lock, ""}.ask();
  const std::string memory = argument_of(call, Parameter::memory);
  check_in(scripts::newest_arrive, fmt::format("line.waiters, {}, ' newest'", memory));
  check_in(scripts::lock_acquire, fmt::format("time - line.ticket / 1000 > {} then", memory));
}

TEST_CASE("scripts and binary know the same default of Redisson's wait timeout") {
  const std::string theirs = argument_of(FairLock{waiting("me:1")}.ask(), Parameter::theirs);
  check_in(scripts::fair_release, fmt::format("queue.theirs or {})", theirs));
}

TEST_CASE("scripts and binary know the same longest history") {
  check_in(scripts::meta_erase, fmt::format("'zcard', history) > {} then", kLongestHistory));
}

TEST_CASE("scripts and binary read facts of the same length") {
  const auto facts = [](std::size_t size) { return R"({"a":")" + std::string(size - 8, 'x') + R"("})"; };
  constexpr std::size_t kLongest = 65536;
  CHECK(parse_object(facts(kLongest)));
  CHECK_FALSE(parse_object(facts(kLongest + 1)));
  check_in(scripts::inspect_facts, fmt::format("field_of(meta, owner, {})", kLongest));
  check_in(scripts::inspect_glance, fmt::format("field_of(meta, owner, {})", kLongest));
  check_in(scripts::inspect_key, fmt::format("field_of(line_facts, owner, {})", kLongest));
}

TEST_CASE("the scripts drop whole ids of requests from the shares of a hold") {
  const std::size_t id = new_request().str().size();
  check_in(scripts::lock_acquire,
           fmt::format("#ids > {} then more, ids = 'x', ids:sub(-{})", 100 * id, 98 * id));
}

TEST_CASE("no two scripts have the same name") {
  std::set<std::string_view> names;
  for (const Script* script : scripts::all) names.insert(script->name);
  CHECK(names.size() == scripts::all.size());
}

}  // namespace
