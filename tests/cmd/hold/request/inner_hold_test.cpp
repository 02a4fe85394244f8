#include "cmd/hold/request/inner_hold.h"

#include <doctest/doctest.h>

using namespace rlock;

TEST_CASE("the name of an inner hold holds its owner and its request, and other names are none") {
  const InnerHold hold{Owner{"me#1:2"}, new_inner_request()};
  const auto read = inner_hold_in(name_of(hold));
  REQUIRE(read);
  CHECK(read->owner == hold.owner);
  CHECK(read->request == hold.request);
  for (const char* text :
       {"me", "me#", "#0123456789abcdef", "me#01234567", "me#0123456789ABCDEF", "me#0123456789abcdef0"})
    CHECK_FALSE(inner_hold_in(Owner{text}));
}
