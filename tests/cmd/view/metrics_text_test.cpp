// The text for Prometheus follows the rules of its format: pure, without a server.

#include "cmd/view/metrics_text.h"

#include <doctest/doctest.h>

#include <regex>
#include <set>

#include "base/text.h"
#include "support/contains.h"

using namespace rlock;
using namespace rlock::test;

namespace {

Inspection held(const std::string& key) {
  Inspection seen;
  seen.name = LockName{key};
  seen.kind = &kinds::lock;
  seen.state = Inspection::State::held;
  seen.ttl = Milliseconds{26'050};
  seen.holders.resize(1);
  seen.holders[0].owner = Owner{"8d1f2c3a-1111-4222-8333-444455556666:57"};
  seen.holders[0].ttl = seen.ttl;
  return seen;
}

bool has(const std::string& text, const std::string& line) {
  return contains("\n" + text, "\n" + line + "\n");
}

/// Checks that each family begins with HELP and TYPE, that its samples follow, and that no series comes
/// twice.
void check_format(const std::string& text) {
  const std::regex help{R"(# HELP (rlock_[a-z_]+) [A-Z].*\.)"};
  const std::regex type{R"(# TYPE (rlock_[a-z_]+) gauge)"};
  const std::regex sample{
      R"re((rlock_[a-z_]+)(\{key="([^"\\\n]|\\\\|\\")*",type="[a-z-]+"(,twin="[0-9]+")?\})? -?[0-9]+(\.[0-9]+)?)re"};
  REQUIRE(text.ends_with('\n'));
  std::string helped, typed;
  std::set<std::string> families, series;
  for (const std::string& line : split(text.substr(0, text.size() - 1), '\n')) {
    CAPTURE(line);
    std::smatch found;
    if (std::regex_match(line, found, help)) {
      helped = found[1];
      CHECK(families.insert(helped).second);
    } else if (std::regex_match(line, found, type)) {
      typed = found[1];
      CHECK(typed == helped);
    } else {
      REQUIRE(std::regex_match(line, found, sample));
      CHECK(found[1] == typed);
      CHECK(series.insert(line.substr(0, line.rfind(' '))).second);
    }
  }
}

}  // namespace

TEST_CASE("each key has the samples that fit its kind") {
  Inspection pool = held("seats");
  pool.kind = &kinds::permit;
  pool.available = 2;
  pool.total = 3;
  pool.ttl.reset();
  Inspection latch;
  latch.name = LockName{"built"};
  latch.kind = &kinds::latch;
  latch.count = 4;
  latch.state = Inspection::State::closed;
  Inspection dead = held("dead");
  dead.holders[0].ttl.reset();
  Inspection kept = held("kept");
  kept.holders[0].facts = Metadata{.ended_at = ServerTime{Milliseconds{1}}};
  const std::string text = metrics_text({held("deploy"), pool, latch, dead, kept}, true);
  check_format(text);
  for (const char* line :
       {R"(rlock_held{key="deploy",type="lock"} 1)", R"(rlock_ttl_seconds{key="deploy",type="lock"} 26.050)",
        R"(rlock_waiting{key="deploy",type="lock"} 0)", R"(rlock_stale{key="deploy",type="lock"} 0)",
        R"(rlock_stale{key="dead",type="lock"} 1)", R"(rlock_permits{key="seats",type="permit"} 3)",
        R"(rlock_kept{key="deploy",type="lock"} 0)", R"(rlock_kept{key="kept",type="lock"} 1)",
        R"(rlock_held{key="kept",type="lock"} 1)", R"(rlock_kept{key="seats",type="permit"} 0)",
        R"(rlock_ttl_seconds{key="seats",type="permit"} 26.050)",
        R"(rlock_permits_available{key="seats",type="permit"} 2)",
        R"(rlock_latch_remaining{key="built",type="latch"} 4)", "rlock_search_complete 1"})
    CHECK_MESSAGE(has(text, line), line);
  for (const char* none : {"rlock_ttl_seconds{key=\"built\"", "rlock_held{key=\"built\"",
                           "rlock_kept{key=\"built\"", "rlock_age_seconds{key=\"deploy\""})
    CHECK_FALSE_MESSAGE(contains(text, none), none);
}

TEST_CASE("without keys only one sample remains: whether all keys were searched") {
  const std::string text = metrics_text({}, false);
  check_format(text);
  CHECK(has(text, "rlock_search_complete 0"));
}

TEST_CASE("labels of any key are unambiguous, and no series comes twice") {
  std::vector<Inspection> keys;
  for (const char* name : {"a\"b", "a\\b", "a\nb", "a\xff", "a\\xff", "\x1b[2J", "a{b=\"c\"} 1\nx 1"})
    keys.push_back(held(name));
  const std::string text = metrics_text(keys, true);
  check_format(text);
  CHECK(has(text, R"(rlock_held{key="a\"b",type="lock"} 1)"));
  CHECK(has(text, R"(rlock_held{key="a\\b",type="lock"} 1)"));
  CHECK(has(text, R"(rlock_held{key="a\\x0ab",type="lock"} 1)"));
  CHECK_FALSE(contains(text, "\x1b"));
}

TEST_CASE("keys that are shown alike have samples each") {
  const std::string text = metrics_text({held("a\xff"), held("a\\xff"), held("a\xff ")}, true);
  check_format(text);
  CHECK(has(text, R"(rlock_held{key="a\\xff",type="lock"} 1)"));
  CHECK(has(text, R"(rlock_held{key="a\\xff",type="lock",twin="2"} 1)"));
  CHECK(has(text, R"(rlock_held{key="a\\xff ",type="lock"} 1)"));
}
