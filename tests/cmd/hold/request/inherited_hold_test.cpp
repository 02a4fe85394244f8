#include "cmd/hold/request/inherited_hold.h"

#include <doctest/doctest.h>

using namespace rlock;

TEST_CASE("holds survive the way through an environment variable, for keys of any bytes") {
  const std::vector<InheritedHold> holds{{"lock", Owner{"6e0f:1"}, LockName{"deploy"}},
                                         {"fair", Owner{"8d1f:2"}, LockName{"a b\n%\xff\x01"}}};

  const auto again = read_holds(write_holds(holds));

  REQUIRE(again.size() == 2);
  CHECK(again[0].type == "lock");
  CHECK(again[0].owner == holds[0].owner);
  CHECK(again[1].key == holds[1].key);
}

TEST_CASE("lines of RLOCK_STACK that are no holds are skipped") {
  const auto holds = read_holds("junk\n\nlock o:1\nlock o:1 k%zz\nlock o:1 k%4\nlock  k\nlock o:1 good\n");

  REQUIRE(holds.size() == 1);
  CHECK(holds[0].key.str() == "good");
}

TEST_CASE("the innermost hold of a key is the one that counts, and another key never does") {
  const auto holds = read_holds("lock outer:1 k\nlock inner:2 k\nlock o:3 other");

  REQUIRE(find_hold(holds, LockName{"k"}) != nullptr);
  CHECK(find_hold(holds, LockName{"k"})->owner.str() == "inner:2");
  CHECK(find_hold(holds, LockName{"kk"}) == nullptr);
}

TEST_CASE("of one key only the innermost sixteen holds are read, however many the variable names") {
  std::string text = "lock outer:0 other\n";
  for (int i = 0; i < 5000; ++i) text += "lock o:" + std::to_string(i) + " k\n";
  const auto holds = read_holds(text);

  REQUIRE(holds.size() == 17);
  CHECK(holds[0].key.str() == "other");
  CHECK(holds[1].owner.str() == "o:4984");
  CHECK(holds[16].owner.str() == "o:4999");
}
