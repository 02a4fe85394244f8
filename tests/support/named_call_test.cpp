#include "support/named_call.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "scripts.h"
#include "support/process.h"

using namespace rlock;
using namespace rlock::test;

TEST_CASE("a call takes its values by their names, and the usual ones for what the contract demands") {
  const Call call = named_call("lock/release way=again request=q line=l,lw,lf owner=''");
  CHECK(call.script == &scripts::lock_release);
  CHECK(call.keys == Words{"k", "l", "lw", "lf", "q"});
  CHECK(call.args == Words{"", "9000", "0", "ch", "0", "9000", "again", "0"});
  CHECK(named_call("lock/renew request shares memory").keys == Words{"k", "r", "c"});
}

TEST_CASE("a call may be shorter than the contract demands if its line says so") {
  const Call call = named_call("read/acquire -line -waited");
  CHECK(call.keys == Words{"k", "t"});
  CHECK(call.args == Words{"o", "9000", "9000"});
  CHECK_THROWS_AS(named_call("lock/renew -request"), std::invalid_argument);  // it is optional
}

TEST_CASE("a list stands behind the other keys or arguments") {
  CHECK(named_call("permit/renew_ids ids=x,y lease=0").args == Words{"0", "x", "y"});
  CHECK(named_call("inspect/free locks=k,l").keys == Words{"k", "l"});
}

TEST_CASE("a call for several locks has for each the call that acquires and the one that undoes it") {
  const Call call = named_call(
      "multi/lock lock/acquire lock=a -memory | lock/release lock=a | "
      "lock/acquire lock=b line -memory | lock/release lock=b line request");
  CHECK(call.script == &scripts::multi_lock);
  CHECK(call.keys == Words{"a", "a", "b", "l", "w", "f", "b", "l", "w", "f", "r"});
  CHECK(call.args == Words{"2",    "1", "1",    "2",     "8",  "o", "9000", "o",     "9000", "0",
                           "ch",   "0", "9000", "first", "0",  "4", "5",    "2",     "8",    "o",
                           "9000", "o", "9000", "0",     "ch", "0", "9000", "first", "0"});
  CHECK(named_call("multi/plain undo plain/acquire | plain/release").args.front() == "-1");
}

TEST_CASE("a name that the contract lacks, a missing value and a gap are refused") {
  CHECK_THROWS_AS(named_call("lock/renew way=first"), std::invalid_argument);
  CHECK_THROWS_AS(named_call("lock/renew no_such_name=1"), std::invalid_argument);
  CHECK_THROWS_AS(named_call("history/read"), std::invalid_argument);  // `most` has no usual value
  CHECK_THROWS_AS(named_call("lock/no_such_script"), std::invalid_argument);
  CHECK_THROWS_AS(named_call("lock/acquire request"), Error);  // without the line
}
