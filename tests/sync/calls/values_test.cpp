#include "sync/calls/values.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/error.h"
#include "scripts.h"
#include "support/process.h"

using namespace rlock;
using namespace rlock::test;

namespace {

using P = Parameter;

TEST_CASE("a call has its keys and arguments in the order of the script's contract") {
  const Call call = call_of(scripts::latch_down, {{P::memory, "60000"},
                                                  {P::sharded, "0"},
                                                  {P::channel, "ch"},
                                                  {P::count, "2"},
                                                  {P::request, "r"},
                                                  {P::latch, "k"}});
  CHECK(call.script == &scripts::latch_down);
  CHECK(call.keys == Words{"k", "r"});
  CHECK(call.args == Words{"2", "ch", "0", "60000"});
}

TEST_CASE("a script takes the values that it names, and the first of two with one name") {
  const Values all{{P::lease, "9000"}, {P::lock, "k"}, {P::token, "t"}, {P::owner, "o"}, {P::lease, "30000"}};
  const Call call = call_of(scripts::lock_renew, all);
  CHECK(call.keys == Words{"k"});
  CHECK(call.args == Words{"o", "9000"});
}

TEST_CASE("optional keys and arguments may be missing at the end") {
  const Values needed{{P::memory, "60000"}, {P::lease, "9000"}, {P::owner, "o"}, {P::lock, "k"}};
  CHECK(call_of(scripts::plain_acquire, needed).keys == Words{"k"});
  Values all = needed;
  all.insert(all.end(), {{P::inner, "i"}, {P::request, "r"}});
  CHECK(call_of(scripts::plain_acquire, all).keys == Words{"k", "i", "r"});
}

TEST_CASE("a call without a value that its script needs is not made") {
  CHECK_THROWS_AS(call_of(scripts::lock_renew, {{P::lock, "k"}, {P::owner, "o"}}), Error);
  CHECK_THROWS_AS(call_of(scripts::lock_renew, {{P::owner, "o"}, {P::lease, "9000"}}), Error);
}

TEST_CASE("an optional key that is missing is not replaced by the next one") {
  const auto with = [](Values all) {
    all.insert(all.end(), {{P::lock, "k"}, {P::owner, "o"}, {P::lease, "9000"}, {P::memory, "9000"}});
    all.insert(all.end(), {{P::waited, "-1"}, {P::channel, "ch"}, {P::sharded, "0"}});
    return call_of(scripts::lock_acquire, all);
  };
  const Values line{{P::line_order, "l"}, {P::line_waiters, "w"}, {P::line_facts, "f"}, {P::request, "r"}};
  CHECK(with({}).keys == Words{"k"});
  CHECK(with(line).keys == Words{"k", "l", "w", "f", "r"});
  CHECK_THROWS_AS(with({{P::request, "r"}}), Error);
}

TEST_CASE("a script and its variant for a quorum take the same keys and arguments") {
  for (const Script* script : scripts::all) {
    CAPTURE(script->name);
    if (script->for_quorum == nullptr) continue;
    CHECK(script->for_quorum->keys == script->keys);
    CHECK(script->for_quorum->args == script->args);
    CHECK((script->for_quorum->several != nullptr) == (script->several != nullptr));
  }
}

TEST_CASE("no contract has a name twice") {
  for (const Script* script : scripts::all) {
    CAPTURE(script->name);
    std::vector<P> names;
    for (const auto* some : {&script->keys, &script->args})
      for (const P name : *some)
        if (name != P::none) names.push_back(name);
    std::ranges::sort(names);
    CHECK(std::ranges::adjacent_find(names) == names.end());
  }
}

}  // namespace
