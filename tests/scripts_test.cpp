#include <doctest/doctest.h>

#include <set>
#include <string>
#include <string_view>

#include "scripts.h"
#include "support/redis_server.h"

namespace rlock::test {
namespace {

TEST_CASE("every script has the SHA-1 by which the server calls it") {
  RedisServer redis;
  REQUIRE_FALSE(scripts::all.empty());
  for (const Script* script : scripts::all) {
    CAPTURE(script->name);
    CHECK(redis.cli({"SCRIPT", "LOAD", std::string{script->source}}) == script->sha1);
  }
}

TEST_CASE("what is sent are statements: no comment lines, no indentation, no blank lines") {
  for (const Script* script : scripts::all) {
    CAPTURE(script->name);
    const std::string source = '\n' + std::string{script->source};
    for (const char* waste : {"\n--", "\n ", "\n\t", " \n", "\n\n", "\r"})
      CHECK(source.find(waste) == std::string::npos);
    CHECK(source.ends_with('\n'));
  }
}

TEST_CASE("no two scripts have the same name") {
  std::set<std::string_view> names;
  for (const Script* script : scripts::all) names.insert(script->name);
  CHECK(names.size() == scripts::all.size());
}

}  // namespace
}  // namespace rlock::test
