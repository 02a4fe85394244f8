#include "sync/kinds/plain.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "support/scene.h"

using namespace rlock;
using namespace rlock::test;
using How = Released::How;

namespace {

PlainLock plain(const std::string& token, Hold hold = Hold::first, Milliseconds lease = Milliseconds{30000}) {
  return PlainLock{{.name = LockName{"deploy"}, .owner = Owner{token}, .lease = lease},
                   {Milliseconds{10}, Milliseconds{500}},
                   hold};
}

}  // namespace

TEST_CASE("a plain lock is the token under the key, with a TTL") {
  Scene scene;
  CHECK(is_held(scene.ask(plain("token"))));
  CHECK(scene.all() == "deploy (ends) string 'token'");
  CHECK(scene.server.pttl("deploy") > 29000);
  CHECK(plain("token").channels().empty());
}

TEST_CASE("a plain lock excludes another token, which is told when it ends at the latest") {
  Scene scene;
  scene.server.cli({"SET", "deploy", "theirs", "NX", "PX", "20000"});
  const Attempt attempt = scene.ask(plain("mine"));
  REQUIRE(is_busy(attempt));
  CHECK(std::get<Busy>(attempt).retry_after > Milliseconds{19000});
  CHECK(scene.release(plain("mine")).how == How::was_not_ours);
  CHECK(!scene.renew(plain("mine")));
  CHECK(scene.server.cli({"GET", "deploy"}) == "theirs");
}

TEST_CASE("the release of a plain lock compares the token, and its repetition harms nobody") {
  Scene scene;
  scene.ask(plain("mine"));
  CHECK(scene.release(plain("mine")).how == How::yes);
  scene.server.cli({"SET", "deploy", "theirs", "PX", "20000"});
  CHECK(scene.release(plain("mine")).how == How::was_not_ours);
  CHECK(scene.server.has("deploy"));
}

TEST_CASE("every script of a plain lock may be sent twice") {
  Scene scene;
  const PlainLock lock = plain("mine");
  for (const Call& call :
       {lock.ask(), lock.renew(), lock.release({.keep_until = Milliseconds{9999999999999}})}) {
    const auto [first, second] = scene.redis.twice(call);
    CHECK(first.kind() == second.kind());
    CHECK(scene.all() == "deploy (ends) string 'mine'");
  }
  CHECK(written(scene.redis.twice(lock.release({})).second) == "['not_ours']");
  CHECK(scene.all().empty());
}

TEST_CASE("--min-hold keeps the token") {
  Scene scene;
  const auto held = std::get<Held>(scene.ask(plain("mine")));
  CHECK(scene.release(plain("mine"), {.keep_until = held.server_time + Milliseconds{60000}}).how ==
        How::kept);
  CHECK(scene.server.pttl("deploy") > 59000);
}

TEST_CASE("a hold inside that of the same token is seen, not counted, and leaves it") {
  Scene scene;
  const PlainLock inner = plain("mine", Hold::another, Milliseconds{1000});
  CHECK(std::get<Refused>(scene.ask(inner)).why == Refused::Why::absent);

  scene.ask(plain("mine"));
  CHECK(is_held(scene.ask(inner)));
  CHECK(scene.renew(inner));
  CHECK(scene.server.pttl("deploy") > 29000);
  CHECK(scene.release(inner).how == How::still_held);
  CHECK(scene.server.has("deploy"));
  scene.undo(inner);
  CHECK(scene.server.has("deploy"));
}

TEST_CASE("a hold inside that of the same token has its whole lease from the start") {
  Scene scene;
  scene.ask(plain("mine", Hold::first, Milliseconds{3000}));
  const PlainLock inner = plain("mine", Hold::another);
  CHECK(is_held(scene.ask(inner)));
  CHECK(scene.server.pttl("deploy") > 29000);
  scene.server.cli({"PEXPIRE", "deploy", "3000"});
  CHECK(scene.release(inner).how == How::still_held);
  CHECK(scene.server.pttl("deploy") <= 3000);
}

TEST_CASE("a token without a TTL is waited for and named") {
  Scene scene;
  scene.server.cli({"SET", "deploy", "theirs"});
  CHECK(std::get<Busy>(scene.ask(plain("mine"))).no_ttl);
}

TEST_CASE("what is no plain lock is refused and left as it was") {
  const Words others[] = {
      {"SET", "deploy", "7"},          {"RPUSH", "deploy", "a"},
      {"SADD", "deploy", "a"},         {"ZADD", "deploy", "1", "a"},
      {"HSET", "deploy", "me:1", "1"}, {"HSET", "deploy", "mode", "read"},
      {"HSET", "deploy", "name", "x"}, {"XADD", "deploy", "1-1", "a", "b"},
  };
  Scene scene;
  for (const Words& other : others) {
    CAPTURE(joined(other, " "));
    scene.server.del("deploy");
    scene.server.cli(other);
    const std::string before = scene.all();

    CHECK(is_refused(scene.ask(plain("mine"))));
    CHECK(!scene.renew(plain("mine")));
    CHECK(scene.release(plain("mine")).how == How::was_not_ours);
    const Reply forced = scene.redis.run(PlainLock::force(LockName{"deploy"}, Owner{}));
    CHECK(decode_forced(LockName{"deploy"}, "a plain token lock", forced).how == Forced::How::refused);
    CHECK(scene.all() == before);
  }
}

TEST_CASE("force removes a plain lock, or only that of a given token") {
  Scene scene;
  const auto force = [&](const std::string& token) {
    const Reply reply = scene.redis.run(PlainLock::force(LockName{"deploy"}, Owner{token}));
    return decode_forced(LockName{"deploy"}, "a plain token lock", reply);
  };
  CHECK(force("").how == Forced::How::nothing_there);
  scene.ask(plain("theirs"));
  CHECK(force("mine").other == "theirs");
  CHECK(force("theirs").how == Forced::How::removed);
}
