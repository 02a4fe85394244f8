#include "redis/quorum.h"

#include <doctest/doctest.h>

using namespace rlock;

TEST_CASE("a question is decided when enough nodes say yes, or when too few can still say it") {
  CHECK_FALSE(Tally{.yes = 1, .open = 1}.is_decided(2));
  CHECK(Tally{.yes = 2, .open = 1}.is_decided(2));
  CHECK(Tally{.yes = 2, .open = 1}.has(2));
  CHECK(Tally{.yes = 1, .open = 0}.is_decided(2));
  CHECK_FALSE(Tally{.yes = 1, .open = 0}.can_have(2));
}

TEST_CASE("an error is a reply, a failure is none, and a node that has said nothing is open") {
  Votes mixed(4);
  mixed[0].result = Reply{1};
  mixed[1].result = Reply::error("ERR no");
  mixed[2].result = Failure{Error::unreachable, "silent"};
  CHECK(tally_replies(mixed).yes == 2);
  CHECK(tally_replies(mixed).open == 1);
}

TEST_CASE("an answer that is an error is no answer of a node") {
  Votes one(3);
  one[0].result = Reply{1};
  one[1].result = Reply::error("ERR no");
  CHECK(answered_by(1, one));
  CHECK_FALSE(answered_by(2, one));
}
