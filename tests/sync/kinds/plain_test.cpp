#include "sync/kinds/plain.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "support/eventually.h"
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

/// A plain lock of an owner that the user named.
PlainLock returning(const std::string& token) {
  return PlainLock{{.name = LockName{"deploy"}, .owner = Owner{token}, .owner_returns = true},
                   {Milliseconds{10}, Milliseconds{500}}};
}

}  // namespace

TEST_CASE("a plain lock is the token under the key, with a TTL") {
  Scene scene;
  CHECK(is_held(scene.ask(plain("token"))));
  CHECK(scene.all() == "deploy (ends) string 'token'");
  CHECK(scene.server.pttl("deploy") > 29000);
  CHECK(plain("token").channels().empty());
}

TEST_CASE("a plain lock excludes another token, whose owner learns the latest end") {
  Scene scene;
  scene.server.cli({"SET", "deploy", "theirs", "NX", "PX", "20000"});
  const AcquireAnswer answer = scene.ask(plain("mine"));
  REQUIRE(is_busy(answer));
  CHECK(std::get<Busy>(answer).retry_after > Milliseconds{19000});
  CHECK(scene.release(plain("mine")).how == How::not_ours);
  CHECK_FALSE(scene.renew(plain("mine")));
  CHECK(scene.server.cli({"GET", "deploy"}) == "theirs");
}

TEST_CASE("the release of a plain lock compares the token, and its repetition does no harm") {
  Scene scene;
  scene.ask(plain("mine"));
  CHECK(scene.release(plain("mine")).how == How::yes);
  scene.server.cli({"SET", "deploy", "theirs", "PX", "20000"});
  CHECK(scene.release(plain("mine")).how == How::not_ours);
  CHECK(scene.server.has("deploy"));
}

TEST_CASE("every script of a plain lock may be sent twice") {
  Scene scene;
  const PlainLock lock = plain("mine");
  for (const Call& call :
       {lock.ask(), lock.renew(), lock.release({.keep_until = ServerTime{Milliseconds{9999999999999}}})}) {
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

TEST_CASE("a token stays until the last hold inside it has ended, although the outer hold was released") {
  Scene scene;
  const PlainLock outer = plain("mine"), inner = plain("mine", Hold::inner), other = plain("theirs");
  for (const PlainLock& lock : {outer, inner}) CHECK(is_held(scene.ask(lock)));
  CHECK(scene.release(outer).how == How::still_held);
  CHECK(scene.release(outer).how == How::still_held);
  CHECK(is_busy(scene.ask(other)));
  CHECK(scene.renew(inner));
  CHECK(scene.release(inner).how == How::yes);
  CHECK(scene.release(inner).how == How::not_ours);
  CHECK(is_held(scene.ask(other)));
  CHECK(scene.release(inner).how == How::not_ours);
  CHECK(scene.release(outer).how == How::not_ours);
  CHECK(scene.server.cli({"GET", "deploy"}) == "theirs");
}

TEST_CASE("an inner hold whose lease has ended does not keep the token") {
  Scene scene;
  const PlainLock outer = plain("mine"), inner = plain("mine", Hold::inner, Milliseconds{1});
  for (const PlainLock& lock : {outer, inner}) CHECK(is_held(scene.ask(lock)));
  CHECK(eventually([&] { return scene.release(outer).how == How::yes; }, std::chrono::seconds{30}));
}

TEST_CASE("--min-hold of the outer hold counts after the inner hold of a token, too") {
  Scene scene;
  const PlainLock outer = plain("mine"), inner = plain("mine", Hold::inner);
  const auto held = std::get<Held>(scene.ask(outer));
  scene.ask(inner);
  CHECK(scene.release(outer, {.keep_until = held.server_time + Milliseconds{20000}}).how == How::kept);
  CHECK(scene.server.pttl("deploy") > 29000);
  CHECK(scene.release(inner).how == How::kept);
  CHECK(scene.server.pttl("deploy") <= 20000);
  CHECK(scene.server.pttl("deploy") > 19000);
}

TEST_CASE("while its slot moves, no release with one key frees a token that has inner holds") {
  Scene scene;
  const PlainLock outer = plain("mine"), inner = plain("mine", Hold::inner);
  for (const PlainLock& lock : {outer, inner}) CHECK(is_held(scene.ask(lock)));
  for (const Call& single : outer.release({}).while_slot_moves) scene.redis.run(single);
  CHECK(scene.server.cli({"GET", "deploy"}) == "mine");
}

TEST_CASE("while its slot moves, a token is renewed with one key, but an inner hold only with all its keys") {
  CHECK(plain("mine").renew().keys.size() == 1);
  CHECK(plain("mine", Hold::inner).renew().while_slot_moves.empty());
}

TEST_CASE(
    "an owner that acquires a token again, after its release and before the end of an inner hold, may give up") {
  Scene scene;
  const PlainLock outer = plain("mine"), inner = plain("mine", Hold::inner), again = returning("mine");
  for (const PlainLock& lock : {outer, inner}) CHECK(is_held(scene.ask(lock)));
  CHECK(scene.release(outer).how == How::still_held);
  CHECK(is_held(scene.ask(again)));
  scene.undo(again);
  CHECK(scene.release(inner).how == How::yes);
}

TEST_CASE("a late copy of an acquire does not bring back the outer hold of a token") {
  Scene scene;
  const PlainLock outer = plain("mine"), inner = plain("mine", Hold::inner), again = returning("mine");
  for (const PlainLock& lock : {outer, inner}) CHECK(is_held(scene.ask(lock)));
  CHECK(scene.release(outer).how == How::still_held);
  const Call late = again.ask();
  for (const Call& call : {late, again.release({}), late}) scene.redis.run(call);
  CHECK(scene.release(inner).how == How::yes);
}

TEST_CASE("a late copy of a release does not write its --min-hold again") {
  Scene scene;
  const PlainLock outer = returning("mine"), inner = plain("mine", Hold::inner);
  const auto held = std::get<Held>(scene.ask(outer));
  scene.ask(inner);
  const Call release = outer.release({.keep_until = held.server_time + Milliseconds{60000}});
  const std::string keep = "redisson_unlock_latch:{deploy}:keep";
  scene.redis.run(release);
  CHECK(scene.server.has(keep));
  for (const std::string& key : {keep, std::string{"deploy"}}) scene.server.cli({"DEL", key});
  scene.redis.run(release);
  CHECK_FALSE(scene.server.has(keep));
}

TEST_CASE("an inner hold of a token is recognized, but not counted, and its release leaves the token") {
  Scene scene;
  const PlainLock inner = plain("mine", Hold::inner, Milliseconds{1000});
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

TEST_CASE("an inner hold of a token has its whole lease from the start") {
  Scene scene;
  scene.ask(plain("mine", Hold::first, Milliseconds{3000}));
  const PlainLock inner = plain("mine", Hold::inner);
  CHECK(is_held(scene.ask(inner)));
  CHECK(scene.server.pttl("deploy") > 29000);
  scene.server.cli({"PEXPIRE", "deploy", "3000"});
  CHECK(scene.release(inner).how == How::still_held);
  CHECK(scene.server.pttl("deploy") <= 3000);
}

TEST_CASE("a busy token without a TTL is reported as one") {
  Scene scene;
  scene.server.cli({"SET", "deploy", "theirs"});
  CHECK(std::get<Busy>(scene.ask(plain("mine"))).no_ttl);
}

TEST_CASE("a key that is no plain lock is refused and left unchanged") {
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
    CHECK_FALSE(scene.renew(plain("mine")));
    CHECK(scene.release(plain("mine")).how == How::not_ours);
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
