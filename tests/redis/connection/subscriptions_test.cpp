#include "redis/connection/subscriptions.h"

#include <doctest/doctest.h>
#include "support/contains.h"
#include "support/now.h"

using namespace rlock;
using namespace rlock::test;

namespace {

using Kind = Push::Kind;
using Wanted = std::vector<Subscription>;

const Subscription kPlain{Channel{"c"}, false};
const Subscription kSharded{Channel{"c"}, true};
const Subscription kAnother{Channel{"d"}, false};
constexpr ConnectionNumber kFirst{7};
constexpr ConnectionNumber kSecond{8};

Push push(Kind kind, const Subscription& of, const std::string& error = {}) {
  return {kind, of.channel, of.sharded, error.empty() ? Reply{} : Reply::error(error)};
}

/// Some subscriptions that the first connection was told to make.
Subscriptions begun(const Wanted& wanted) {
  Subscriptions it;
  for (const Subscription& one : wanted) CHECK_FALSE(it.add(one));
  CHECK(it.begin(kFirst) == wanted);
  return it;
}

}  // namespace

TEST_CASE("a connection gets the wanted subscriptions as soon as there are any") {
  Subscriptions it;
  CHECK(it.begin_at() == kNever);
  CHECK_FALSE(it.add(kPlain));
  CHECK_FALSE(it.add(kPlain));
  CHECK_FALSE(it.add(kSharded));
  CHECK(it.begin_at() <= kNow);
  CHECK(it.begin(kFirst) == Wanted{kPlain, kSharded});
  CHECK(it.connection() == kFirst);
  CHECK(it.begin_at() == kNever);
}

TEST_CASE("the pubsub connection learns of each change of the wanted subscriptions at once") {
  Subscriptions it = begun({kPlain});
  CHECK(it.add(kAnother));
  CHECK_FALSE(it.add(kAnother));
  CHECK(it.remove(kPlain));
  CHECK_FALSE(it.remove(kPlain));

  it.disconnected();
  CHECK_FALSE(it.remove(kAnother));
  CHECK(it.empty());
  CHECK(it.begin_at() == kNever);
}

TEST_CASE("the next connection gets the same subscriptions at once") {
  Subscriptions it = begun({kPlain, kAnother});
  it.disconnected();
  CHECK(it.connection() == ConnectionNumber::none);
  CHECK(it.begin_at() <= kNow);
  CHECK(it.begin(kSecond) == Wanted{kPlain, kAnother});
}

TEST_CASE("messages and confirmed subscriptions are reasons to ask again, of wanted channels only") {
  Subscriptions it = begun({kPlain});
  CHECK_FALSE(it.accept(push(Kind::subscribed, kPlain), kNow));
  CHECK(it.wakeups() == 1);
  CHECK_FALSE(it.accept(push(Kind::message, kPlain), kNow));
  CHECK(it.wakeups() == 2);
  for (const Subscription& unwanted : {kSharded, kAnother})
    for (const Kind kind : {Kind::message, Kind::subscribed, Kind::unsubscribed, Kind::refused})
      CHECK_FALSE(it.accept(push(kind, unwanted, kind == Kind::refused ? "NOPERM" : ""), kNow));
  CHECK(it.wakeups() == 2);
  CHECK_FALSE(it.error().has_value());
  CHECK(it.connection() == kFirst);
}

TEST_CASE("a refused subscription is an error, and the server is not asked again") {
  Subscriptions it = begun({kPlain});
  CHECK(it.accept(push(Kind::refused, kPlain, "NOPERM no permissions"), kNow));
  CHECK(contains(*it.error(), "NOPERM"));
  it.disconnected();
  CHECK(it.begin_at() == kNever);
}

TEST_CASE("a server that cannot accept a subscription just now, or ends one, is asked again after a pause") {
  const std::vector<Push> pushes{push(Kind::refused, kPlain, "BUSY Redis is busy running a script"),
                                 push(Kind::refused, kPlain, "LOADING"), push(Kind::unsubscribed, kPlain)};
  for (const Push& came : pushes) {
    Subscriptions it = begun({kPlain, kAnother});
    CHECK_FALSE(it.accept(came, kNow));
    CHECK_FALSE(it.error().has_value());
    CHECK(it.begin_at() == plus(kNow, Milliseconds{200}));
    CHECK(it.begin(kFirst) == Wanted{kPlain, kAnother});
  }
}

TEST_CASE("a sharded subscription that belongs elsewhere is given up, and the plain one goes on") {
  struct Row {
    Push push;
    bool misplaced;
  };
  const std::vector<Row> rows{
      {push(Kind::unsubscribed, kSharded), true},
      {push(Kind::refused, kSharded, "MOVED 3999 10.0.0.1:6381"), true},
      {push(Kind::refused, kSharded, "ERR unknown command 'SSUBSCRIBE'"), false},
      {push(Kind::refused, kSharded, "NOPERM no permissions"), false},
  };
  for (const Row& row : rows) {
    Subscriptions it = begun({kPlain, kSharded});
    CHECK_FALSE(it.accept(row.push, kNow));
    CHECK(it.has_misplaced() == row.misplaced);
    CHECK(it.take_misplaced() == row.misplaced);
    CHECK_FALSE(it.has_misplaced());
    CHECK(it.connection() == kFirst);
    CHECK_FALSE(it.error().has_value());
    CHECK(it.begin(kSecond) == Wanted{kPlain});
    CHECK(it.add(kSharded));  // the slot may have moved here, so this server is asked again
  }
  Subscriptions it = begun({kSharded});
  CHECK_FALSE(it.accept(push(Kind::refused, kSharded, "LOADING"), kNow));
  CHECK(it.begin(kSecond) == Wanted{kSharded});
}
