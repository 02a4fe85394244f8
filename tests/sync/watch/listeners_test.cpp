#include "sync/watch/listeners.h"

#include <doctest/doctest.h>

#include "support/process.h"

using namespace rlock;
using namespace rlock::test;

TEST_CASE("the listeners of a key are counted where its kind announces releases, else where a lock does") {
  const auto words = [](const Kind* kind) {
    Inspection seen;
    seen.name = LockName{"k"};
    seen.kind = kind;
    return count_listeners(seen).args.list();
  };
  const std::string lock = "redisson_lock__channel:{k}";
  CHECK(words(&kinds::lock) == Words{"PUBSUB", "NUMSUB", lock});
  CHECK(words(&kinds::read_write) == Words{"PUBSUB", "NUMSUB", "redisson_rwlock:{k}"});
  CHECK(words(&kinds::plain).back() == lock);
  CHECK(words(nullptr).back() == lock);
}

TEST_CASE("the number of listeners is that of the answer, and 0 if there is none") {
  const auto read = [](Reply count) {
    return read_listeners(Reply{std::vector{Reply{"c"}, std::move(count)}});
  };
  CHECK(read(Reply{3}) == 3);
  CHECK(read(Reply{-3}) == 0);
  CHECK(read(Reply{"3"}) == 0);
  CHECK(read_listeners(Reply{3}) == 0);
  CHECK(read_listeners(Reply::error("NOPERM")) == 0);
}

TEST_CASE("the names of listeners are read once each, and connections without a name are left out") {
  CHECK(read_names(
            Reply{"id=1 name=b age=2\nid=2 name= age=1\nid=3 age=1\nid=4 name=a\nid=5 name=b age=7\n"}) ==
        Words{"a", "b"});
  CHECK(read_names(Reply{""}).empty());
  CHECK(read_names(Reply{}).empty());
  CHECK(read_names(Reply::error("NOPERM name=a")).empty());
}
