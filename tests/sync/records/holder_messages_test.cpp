#include "sync/records/holder_messages.h"

#include <doctest/doctest.h>

using namespace rlock;

TEST_CASE(
    "a holder reads who asks it to stop, and who removed its lock, and takes no other message for one") {
  CHECK(read_stop_request(stop_request("alice@ops", "noon")) == "alice@ops: noon");
  CHECK(read_removal_notice(removal_notice("alice@ops", "")) == "alice@ops");
  CHECK(read_stop_request(removal_notice("alice@ops", "noon")) == std::nullopt);
  CHECK(read_removal_notice(stop_request("alice@ops", "noon")) == std::nullopt);
  for (const char* other : {"", "stop", "removed", "0", "released"}) {
    CHECK(read_stop_request(other) == std::nullopt);
    CHECK(read_removal_notice(other) == std::nullopt);
  }
}

TEST_CASE("only the mark of a release says that the owner has released the hold") {
  CHECK(read_released(Reply{"1"}));
  CHECK_FALSE(read_released(Reply{"0"}));
  CHECK_FALSE(read_released(Reply{}));
  CHECK_FALSE(read_released(Reply::error("ERR 1")));
}

TEST_CASE("the number of a release is a text, and without one it is empty") {
  CHECK(read_release_number(Reply{"7f3a"}) == "7f3a");
  CHECK(read_release_number(Reply{}).empty());
  CHECK(read_release_number(Reply::error("NOPERM")).empty());
}
