#include <doctest/doctest.h>

#include <set>
#include <string>
#include <string_view>

#include "scripts.h"
#include "support/contains.h"
#include "support/redis_server.h"
#include "sync/kinds/keys.h"

using namespace rlock;
using namespace rlock::test;

namespace {

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
    CHECK(contains(script->source, "local no_lease=" + std::to_string(kNoLease) + "\n"));
}

TEST_CASE("no two scripts have the same name") {
  std::set<std::string_view> names;
  for (const Script* script : scripts::all) names.insert(script->name);
  CHECK(names.size() == scripts::all.size());
}

}  // namespace
