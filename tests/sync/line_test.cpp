#include "sync/kinds/line.h"

#include <doctest/doctest.h>

#include <memory>

#include "base/text.h"
#include "support/eventually.h"
#include "support/scene.h"
#include "support/skipped.h"
#include "sync/kinds/answers.h"
#include "sync/kinds/fenced.h"
#include "sync/kinds/lock.h"
#include "sync/kinds/permits.h"
#include "sync/kinds/pool.h"
#include "sync/kinds/read_write.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

namespace {

const std::string kChannel = "redisson_lock__channel:{deploy}";
const std::string kLine = "redisson_unlock_latch:{deploy}:line";

Claim waiting(const std::string& owner) {
  return {.name = LockName{"deploy"}, .owner = Owner{owner}, .lease = 30000ms, .turn = Turn::queue};
}

Claim leaving(const std::string& owner) {
  Claim claim = waiting(owner);
  claim.turn = Turn::leave;
  return claim;
}

const Busy& busy(const Attempt& attempt) {
  REQUIRE(std::holds_alternative<Busy>(attempt));
  return std::get<Busy>(attempt);
}

/// A server with locks of the name "deploy".
struct LineScene : Scene {
  using Scene::ask;
  Attempt ask(const std::string& owner) { return ask(Lock{waiting(owner)}); }
  Released release(const std::string& owner) { return Scene::release(Lock{waiting(owner)}); }
  std::string line() { return server.cli({"ZRANGE", kLine, "0", "-1"}); }
  std::vector<std::string> known_of(const std::string& owner) {
    return split(server.cli({"HGET", kLine + ":waiters", owner}), ' ');
  }
  /// As if `owner` had been told so many ms earlier than it was.
  void told_earlier(const std::string& owner, std::int64_t ms) {
    std::vector<std::string> fields = known_of(owner);
    fields.at(3) = std::to_string(std::stoll(fields.at(3)) - ms);
    server.cli({"HSET", kLine + ":waiters", owner, joined(fields, " ")});
  }
  void passed_ten_times() { server.cli({"HSET", kLine + ":waiters", "", "10 0"}); }
  Listener listener(const std::string& owner) { return {server, Channel{kChannel + ":" + owner}}; }
};

Message says(const std::string& channel, std::string text) { return {Channel{channel}, std::move(text)}; }

Busy in_place(std::int64_t place) { return {.position = place}; }

}  // namespace

// --- meaning ---------------------------------------------------------------------------------------

TEST_CASE(
    "only the first two of a line listen to the releases of other clients, and all hear of a line that begins") {
  const Line line{waiting("me:1"), Channel{kChannel}};
  const Channel own{kChannel + ":me:1"}, all{kChannel + ":"};
  CHECK(line.channels(in_place(1)) == std::vector{own, all, Channel{kChannel}});
  CHECK(line.channels(in_place(2)) == std::vector{own, all, Channel{kChannel}});
  CHECK(line.channels(in_place(3)) == std::vector{own, all});
  CHECK(line.channels(Busy{}) == std::vector{Channel{kChannel}});
}

TEST_CASE(
    "who is told asks at once; of a release by others the second hears in case that the first is frozen") {
  const Line line{waiting("me:1"), Channel{kChannel}};
  CHECK(line.hear(says(kChannel + ":me:1", "0"), in_place(7)).ask_after == 0ms);
  CHECK(line.hear({Channel{kChannel + ":me:1"}, std::nullopt}, in_place(2)).ask_after == 0ms);
  CHECK(line.hear({Channel{kChannel + ":me:1"}, std::nullopt}, in_place(7)).ask_after == 14ms);
  CHECK(line.hear(says(kChannel, "0"), in_place(1)).ask_after == 0ms);
  CHECK(line.hear(says(kChannel, "0"), in_place(2)).ask_after == 300ms);
  CHECK_FALSE(line.hear({Channel{kChannel}, std::nullopt}, in_place(2)).ask_after);
  CHECK_FALSE(line.hear(says(kChannel, "0"), in_place(3)).ask_after);
}

TEST_CASE("when a line begins, those who stood in one that was lost ask one after the other") {
  const Line line{waiting("me:1"), Channel{kChannel}};
  CHECK(line.hear(says(kChannel + ":", "0"), in_place(7)).ask_after == 14ms);
  CHECK_FALSE(line.hear({Channel{kChannel + ":"}, std::nullopt}, in_place(7)).ask_after);
}

TEST_CASE("a waiter that moves up learns its place and when the lease ends") {
  const Line line{waiting("me:1"), Channel{kChannel}};
  Busy place = in_place(3);
  const TimePoint now = Clock::now();

  const Line::Heard second = line.hear(says(kChannel + ":me:1", "2 500"), place);
  REQUIRE(second.place == 2);
  CHECK_FALSE(second.ask_after);
  Line::move_up(place, second, now);
  CHECK(place.position == 2);
  CHECK(place.retry_after == 700ms);  // after the first, should that be frozen
  CHECK(place.rest == 500ms);

  Line::move_up(place, line.hear(says(kChannel + ":me:1", "1 -1"), place), now);
  CHECK(place.position == 1);
  CHECK(place.no_ttl);
  CHECK(place.retry_after == 2000ms);
}

TEST_CASE("who is told to come later leaves the release to others for a moment") {
  const Line line{waiting("me:1"), Channel{kChannel}};
  const Line::Heard heard = line.hear(says(kChannel + ":me:1", "later 10"), in_place(1));
  CHECK(heard.ask_after == 10ms);
  CHECK(heard.not_before);
  CHECK(line.hear(says(kChannel + ":me:1", "later 60000"), in_place(1)).ask_after == 0ms);
  CHECK(line.hear(says(kChannel + ":me:1", "later x"), in_place(1)).ask_after == 0ms);
}

TEST_CASE("a message that no script of ours sends is a reason to ask, whatever it says") {
  const Line line{waiting("me:1"), Channel{kChannel}};
  for (const std::string text : {"", "1", "0 5", "-1 5", "x y", "1 2 3", "99999999999999999999 1"}) {
    CAPTURE(text);
    const Line::Heard heard = line.hear(says(kChannel + ":me:1", text), in_place(3));
    CHECK(heard.ask_after == 0ms);
    CHECK_FALSE(heard.place);
  }
}

// --- server ----------------------------------------------------------------------------------------

TEST_CASE("who waits has a place in the order of arrival, and who does not wait leaves nothing behind") {
  LineScene scene;
  scene.ask("a:1");
  CHECK(busy(scene.ask("b:1")).position == 1);
  CHECK(busy(scene.ask("c:1")).position == 2);
  CHECK(busy(scene.ask("b:1")).queue == 2);
  CHECK(busy(scene.ask("b:1")).holder == "a:1");
  CHECK(scene.line() == "b:1\nc:1");

  const Busy& left = busy(scene.ask(Lock{leaving("d:1")}));
  CHECK_FALSE(left.position);
  CHECK(left.queue == 2);
  CHECK(scene.line() == "b:1\nc:1");
  CHECK(scene.server.pttl(kLine) > 0);
  CHECK(scene.server.pttl(kLine + ":waiters") > 0);
}

TEST_CASE("what a waiter says of itself ends with the line") {
  LineScene scene;
  scene.ask("a:1");
  scene.server.cli({"HSET", kLine + ":facts", "b:1", "{}"});
  scene.ask("b:1");
  CHECK(scene.server.pttl(kLine + ":facts") > 0);
}

TEST_CASE("the further back a place is, the more seldom it asks, but every two minutes at least") {
  LineScene scene;
  scene.ask("a:1");
  for (int i = 1; i <= 120; ++i) {
    CAPTURE(i);
    const Busy place = busy(scene.ask("b:" + std::to_string(i)));
    CHECK(place.position == i);
    const Milliseconds sleeps{i <= 5 ? i * 2000 : std::min(20000 + i * 1000, 120000)};
    CHECK(place.retry_after == sleeps);
  }
}

TEST_CASE("in a cluster who hears the sharded message alone is alive") {
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  LineScene scene;
  const auto sharded = [](const std::string& owner) {
    Claim claim = waiting(owner);
    claim.pub_sub = PubSub::sharded_too;
    return Lock{claim};
  };
  Listener first{scene.server, Channel{kChannel + ":b:1"}, /*sharded=*/true};
  for (const char* owner : {"a:1", "b:1"}) scene.ask(sharded(owner));
  scene.Scene::release(sharded("a:1"));
  CHECK(first.heard() == "0");
  CHECK(scene.line() == "b:1");
}

TEST_CASE("a place that was lost with the server is taken again by how long its owner has waited") {
  LineScene scene;
  scene.ask("a:1");
  scene.ask("c:1");
  CHECK(busy(scene.ask(Lock{waiting("c:1")})).position == 1);
  const Lock earlier{waiting("b:1")};
  CHECK(busy(earlier.read(scene.redis.run(earlier.ask(60000ms)))).position == 1);
  CHECK(scene.line() == "b:1\nc:1");
}

TEST_CASE("a line that begins is announced once, to those who stood in one that was lost") {
  LineScene scene;
  scene.ask("a:1");
  Listener all{scene.server, Channel{kChannel + ":"}};
  scene.ask("b:1");
  scene.ask("c:1");
  CHECK(all.heard() == "0");  // a line has begun for b
  CHECK(all.silence());
  scene.server.cli({"DEL", kLine});
  scene.ask("c:1");
  scene.ask("b:1");
  CHECK(all.heard() == "0");
  CHECK(all.silence());
}

TEST_CASE("who is dropped from a line whose hash was lost is told to ask again") {
  LineScene scene;
  scene.ask("a:1");
  scene.ask("b:1");
  scene.ask("c:1");
  Listener second = scene.listener("b:1"), third = scene.listener("c:1");
  scene.server.cli({"DEL", kLine + ":waiters"});
  scene.release("a:1");
  CHECK(second.heard() == "0");
  CHECK(third.heard() == "0");
}

TEST_CASE("a newcomer stands behind the last of the line, though the server's clock was set back") {
  LineScene scene;
  scene.ask("a:1");
  scene.ask("b:1");
  // As if b had arrived before the clock was set back by a minute.
  std::vector<std::string> known = scene.known_of("b:1");
  known.at(1) = std::to_string(std::stoll(known.at(1)) + 60'000'000);
  scene.server.cli({"ZADD", kLine, known.at(1), "b:1"});
  scene.server.cli({"HSET", kLine + ":waiters", "b:1", joined(known, " ")});

  CHECK(busy(scene.ask("c:1")).position == 2);
  CHECK(busy(scene.ask("d:1")).position == 3);
  const Lock earlier{waiting("e:1")};  // it has waited for longer than any of them, and lost its place
  CHECK(busy(earlier.read(scene.redis.run(earlier.ask(120000ms)))).position == 1);
  CHECK(scene.line() == "e:1\nb:1\nc:1\nd:1");
}

TEST_CASE("a score in the line that no clock says moves nobody behind it") {
  LineScene scene;
  scene.ask("a:1");
  scene.ask("b:1");
  scene.server.cli({"ZADD", kLine, "1e300", "x"});
  CHECK(busy(scene.ask("c:1")).position == 2);
  CHECK(scene.line() == "b:1\nc:1\nx");
}

TEST_CASE("a release tells the first of the line and nobody else, and Redisson's channel as ever") {
  LineScene scene;
  Listener first = scene.listener("b:1");
  Listener second = scene.listener("c:1");
  Listener redisson{scene.server, Channel{kChannel}};
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);

  CHECK(scene.release("a:1").unannounced.empty());
  CHECK(first.heard() == "0");
  CHECK(redisson.heard() == "0");
  CHECK(second.silence());

  const std::string told = scene.known_of("b:1").at(3);
  CHECK(told != "0");
  CHECK(scene.known_of("c:1").at(3) == "0");
  scene.ask("a:1");
  scene.release("a:1");
  CHECK(scene.known_of("b:1").at(3) == told);  // its time runs from the first message
}

TEST_CASE("where nobody listens but the first two and the holder, the first is always told to ask at once") {
  LineScene scene;
  const Listener holder{scene.server, Channel{kChannel}};  // it has waited, and listens on
  const Listener first{scene.server, Channel{kChannel}};
  const Listener second{scene.server, Channel{kChannel}};
  Listener told = scene.listener("b:1");
  const Listener next = scene.listener("c:1");
  for (int i = 0; i < 9; ++i) {
    for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);
    scene.release("a:1");
    CHECK(told.heard() == "0");
  }
}

TEST_CASE("beside waiters of other clients some releases are left to them for a moment") {
  LineScene scene;
  const Listener redisson{scene.server, Channel{kChannel}};
  const Listener redisson_too{scene.server, Channel{kChannel}};
  const Listener redisson_three{scene.server, Channel{kChannel}};
  Listener first = scene.listener("b:1");
  int at_once = 0;
  int later = 0;
  const bool both = eventually([&] {
    scene.ask("a:1");
    scene.ask("b:1");
    scene.release("a:1");
    (first.heard() == "0" ? at_once : later) += 1;
    scene.ask("b:1");  // or it would be passed, and after ten times a:1 would not get the lock
    scene.release("b:1");
    return at_once > 0 && later > 0;
  });
  CHECK(both);
}

TEST_CASE("that other clients wait beside the line is still known at the next release") {
  LineScene scene;
  const Listener redisson{scene.server, Channel{kChannel}};
  const Listener redisson_too{scene.server, Channel{kChannel}};
  const Listener redisson_three{scene.server, Channel{kChannel}};
  const Listener first = scene.listener("b:1");
  for (const char* owner : {"a:1", "b:1"}) scene.ask(owner);
  scene.release("a:1");
  REQUIRE(scene.known_of("").size() == 2);
  CHECK(scene.known_of("")[1] != "0");
}

TEST_CASE("what the scripts note of a line whose hash was lost ends with the line") {
  LineScene scene;
  const Listener redisson{scene.server, Channel{kChannel}};
  const Listener redisson_too{scene.server, Channel{kChannel}};
  const Listener redisson_three{scene.server, Channel{kChannel}};
  const Listener redisson_four{scene.server, Channel{kChannel}};
  scene.ask("a:1");
  for (int i = 0; i < 501; ++i) scene.ask("b:" + std::to_string(i));  // a release looks at 500
  scene.server.cli({"DEL", kLine + ":waiters"});
  scene.release("a:1");
  REQUIRE(scene.server.has(kLine));
  REQUIRE(scene.server.has(kLine + ":waiters"));
  CHECK(scene.server.pttl(kLine + ":waiters") > 0);
}

TEST_CASE("who takes the lock leaves the line, and those who come to its front are told their place") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1", "d:1", "e:1"}) scene.ask(owner);
  Listener first = scene.listener("b:1");
  Listener second = scene.listener("c:1");
  Listener third = scene.listener("d:1");
  Listener fourth = scene.listener("e:1");
  scene.server.cli({"HSET", kLine + ":facts", "b:1", "{}", "c:1", "{}"});
  scene.release("a:1");
  CHECK(first.heard() == "0");

  CHECK(is_held(scene.ask("b:1")));
  CHECK(second.heard().starts_with("1 "));
  CHECK(third.heard().starts_with("2 "));
  CHECK(fourth.silence());
  CHECK(scene.line() == "c:1\nd:1\ne:1");
  CHECK(scene.server.cli({"HEXISTS", kLine + ":waiters", "b:1"}) == "0");
  CHECK(scene.server.cli({"HEXISTS", kLine + ":facts", "b:1"}) == "0");
}

TEST_CASE("who was killed at the front of a line that moves up is not kept there") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1", "d:1", "e:1"}) scene.ask(owner);
  Listener first = scene.listener("b:1");
  Listener third = scene.listener("e:1");
  scene.release("a:1");
  CHECK(first.heard() == "0");
  scene.ask("b:1");
  CHECK(third.heard().starts_with("1 "));
  CHECK(scene.line() == "e:1");
}

TEST_CASE("of many who were killed at the front sixteen leave the line at a time") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1"}) scene.ask(owner);
  for (int i = 0; i < 40; ++i) scene.ask("dead:" + std::to_string(i));
  scene.ask("c:1");
  const Listener first = scene.listener("b:1");
  const Listener last = scene.listener("c:1");
  scene.release("a:1");
  scene.ask("b:1");
  CHECK(scene.server.cli({"ZCARD", kLine}) == "25");
}

TEST_CASE("where the first was killed the next is told in the same call, however many were") {
  LineScene scene;
  scene.ask("a:1");
  for (int i = 0; i < 40; ++i) scene.ask("dead:" + std::to_string(i));
  scene.ask("b:1");
  Listener living = scene.listener("b:1");
  scene.release("a:1");
  CHECK(living.heard() == "0");
  CHECK(scene.line() == "b:1");
}

TEST_CASE("where the first was killed the next is told, and who becomes second by that hears so") {
  LineScene scene;
  for (const char* owner : {"a:1", "dead:1", "b:1", "c:1", "d:1"}) scene.ask(owner);
  Listener next = scene.listener("b:1");
  Listener second = scene.listener("c:1");
  Listener third = scene.listener("d:1");
  scene.release("a:1");
  CHECK(next.heard() == "0");
  CHECK(second.heard() == "2 0");
  CHECK(third.silence());
}

TEST_CASE("a line from which everybody is gone leaves no key behind") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1"}) scene.ask(owner);
  scene.release("a:1");
  CHECK(is_held(scene.ask("c:1")));
  scene.ask("b:1");
  scene.release("c:1");  // b:1 was passed once, and nobody hears
  CHECK(scene.server.cli({"KEYS", "*"}).empty());
}

TEST_CASE("a newcomer may take a lock that is free, but nobody is passed more than ten times") {
  LineScene scene;
  scene.ask("a:1");
  scene.ask("b:1");
  Listener first = scene.listener("b:1");
  scene.release("a:1");
  for (int i = 0; i < 10; ++i) {
    CAPTURE(i);
    const std::string newcomer = "n:" + std::to_string(i);
    REQUIRE(is_held(scene.ask(newcomer)));
    CHECK(busy(scene.ask("b:1")).position == 1);
    scene.release(newcomer);
  }
  const Busy& late = busy(scene.ask("n:10"));
  CHECK(late.position == 2);
  CHECK(late.holder.empty());
  CHECK(is_held(scene.ask("b:1")));
}

TEST_CASE("who may not pass the first tells it that the lock is free, and asks again after its time") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1"}) scene.ask(owner);
  Listener first = scene.listener("b:1");
  scene.passed_ten_times();
  scene.server.del("deploy");  // or its lease has ended
  CHECK(busy(scene.ask("n:1")).retry_after == 1010ms);
  CHECK(first.heard() == "0");
  CHECK(scene.known_of("b:1").at(3) != "0");  // when it was told
}

TEST_CASE("the dead in front do not hide who may not be passed") {
  LineScene scene;
  for (const char* owner : {"a:1", "dead:1", "b:1"}) scene.ask(owner);
  Listener living = scene.listener("b:1");
  scene.passed_ten_times();
  scene.server.cli({"HSET", kLine + ":waiters", "dead:1", "1 1 1 0 0"});  // alive until 1970
  scene.server.del("deploy");
  CHECK(is_busy(scene.ask(Lock{leaving("n:1")})));
  CHECK(living.heard() == "0");
  CHECK(scene.line() == "b:1");
}

TEST_CASE("behind sixteen dead a lock is taken, but behind sixteen readers no reader goes on at once") {
  LineScene scene;
  scene.ask("a:1");
  for (int i = 0; i < 17; ++i) scene.ask("dead:" + std::to_string(i));
  scene.passed_ten_times();
  scene.server.del("deploy");
  CHECK(is_held(scene.ask("n:1")));

  scene.redis.run(command({"FLUSHALL"}));
  const auto ask_reader = [&](int number) {
    return scene.ask(ReadLock{waiting("r:" + std::to_string(number))});
  };
  scene.ask(WriteLock{waiting("w:1")});
  for (int i = 0; i < 16; ++i) REQUIRE(is_busy(ask_reader(i)));
  scene.server.del("deploy");
  CHECK(busy(ask_reader(16)).retry_after == 260ms);  // there may be a writer behind so many
}

TEST_CASE("the passes of the first count for those behind it, too") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);
  Listener first = scene.listener("b:1");
  Listener second = scene.listener("c:1");
  scene.release("a:1");
  for (int i = 0; i < 10; ++i) {
    const std::string newcomer = "n:" + std::to_string(i);
    REQUIRE(is_held(scene.ask(newcomer)));
    scene.ask("d:1");  // came later
    scene.ask("b:1");
    scene.release(newcomer);
  }
  REQUIRE(is_held(scene.ask("b:1")));
  scene.release("b:1");
  CHECK(is_busy(scene.ask("n:10")));
  CHECK(is_held(scene.ask("c:1")));
}

TEST_CASE("who was frozen is not passed more often because of that") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);
  Listener frozen = scene.listener("b:1");
  Listener next = scene.listener("c:1");
  for (int i = 0; i < 10; ++i) {
    scene.release(i == 0 ? "a:1" : "n:" + std::to_string(i - 1));
    REQUIRE(is_held(scene.ask("n:" + std::to_string(i))));
  }
  scene.release("n:9");
  CHECK(is_busy(scene.ask("n:10")));
  CHECK(frozen.heard() == "0");
  scene.told_earlier("b:1", 300);  // it is far away
  CHECK(is_busy(scene.ask("c:1")));
  CHECK(is_held(scene.ask("b:1")));
}

TEST_CASE(
    "who was told and does not come for a quarter of a second is frozen: it is passed, and waits again later") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);
  Listener frozen = scene.listener("b:1");
  Listener next = scene.listener("c:1");
  scene.release("a:1");
  CHECK(frozen.heard() == "0");
  for (int i = 0; i < 10; ++i) {  // or c:1 would be let pass anyway
    REQUIRE(is_held(scene.ask("n:1")));
    scene.release("n:1");
  }
  CHECK(eventually([&] { return is_held(scene.ask("c:1")); }));
  CHECK(busy(scene.ask(Lock{waiting("b:1")})).position == 1);
}

TEST_CASE("who gives up leaves the line, and passes on that it was told") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);
  Listener first = scene.listener("b:1");
  Listener next = scene.listener("c:1");
  scene.release("a:1");
  CHECK(first.heard() == "0");

  scene.undo(Lock{waiting("b:1")});
  CHECK(next.heard().starts_with("1 "));
  CHECK(next.heard() == "0");
  CHECK(scene.line() == "c:1");
}

TEST_CASE("who becomes second while the lock is free asks soon, in case that the first is frozen") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1", "d:1"}) scene.ask(owner);
  const Listener first = scene.listener("b:1");
  Listener third = scene.listener("d:1");
  scene.release("a:1");
  scene.undo(Lock{waiting("c:1")});
  CHECK(third.heard() == "2 0");
}

TEST_CASE("a forced release tells the first of the line") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1"}) scene.ask(owner);
  Listener first = scene.listener("b:1");
  scene.redis.run(Lock::force(LockName{"deploy"}, Owner{}, PubSub::classic));
  CHECK(first.heard() == "0");
}

TEST_CASE("a forced release says why nobody could be told, whoever that was") {
  LineScene scene;
  const auto force = [&] {
    scene.ask("a:1");
    const Reply reply = scene.redis.run(Lock::force(LockName{"deploy"}, Owner{}, PubSub::classic));
    return decode_forced(LockName{"deploy"}, "lock", reply).unannounced;
  };
  scene.become("mute", {"~*", "+@all", "resetchannels"});
  CHECK(force().find("channel") != std::string::npos);
  scene.become("half", {"~*", "+@all", "resetchannels", "&" + kChannel});
  CHECK(force().empty());
  const std::string later = std::to_string(std::stoll(scene.server.cli({"TIME"})) * 1000 + 60000);
  scene.server.cli({"RPUSH", "redisson_lock_queue:{deploy}", "java:1"});
  scene.server.cli({"ZADD", "redisson_lock_timeout:{deploy}", later, "java:1"});
  CHECK(force().find("channel") != std::string::npos);
  scene.server.cli({"DEL", "redisson_lock_queue:{deploy}"});
  scene.ask("a:1");
  scene.ask("b:1");
  CHECK(force().find("channel") != std::string::npos);
}

TEST_CASE("where two processes wait as one owner, the other asks again when one gives up") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1"}) scene.ask(owner);
  Listener other = scene.listener("b:1");
  scene.undo(Lock{waiting("b:1")});
  CHECK(other.heard() == "0");
}

TEST_CASE("places are told without the dead in front") {
  LineScene scene;
  scene.ask("a:1");
  scene.ask("dead:1");
  scene.ask("dead:2");
  for (const char* owner : {"dead:1", "dead:2"}) {
    scene.server.cli({"HSET", kLine + ":waiters", owner, "1 1 1 0 0"});  // alive until 1970
  }
  CHECK(busy(scene.ask("b:1")).position == 1);
  CHECK(scene.line() == "b:1");
}

TEST_CASE("asking and giving up twice changes nothing") {
  LineScene scene;
  scene.ask("a:1");
  const Lock waiter{waiting("b:1")};
  scene.redis.twice(waiter.ask());
  CHECK(scene.line() == "b:1");
  scene.redis.twice(*waiter.undo(Wake::waiters));
  CHECK(scene.line().empty());
  CHECK(scene.lock() == "deploy (ends) hash ['a:1', '1']");
}

TEST_CASE("a fenced lock and a lock stand in one line") {
  LineScene scene;
  Listener first = scene.listener("b:1");
  Listener second = scene.listener("c:1");
  scene.ask("a:1");
  const FencedLock fenced{waiting("b:1")};
  CHECK(busy(scene.ask(fenced)).position == 1);
  CHECK(busy(scene.ask("c:1")).position == 2);
  scene.release("a:1");
  CHECK(is_held(scene.ask(fenced)));
  CHECK(scene.line() == "c:1");
}

TEST_CASE("readers do not pass a writer who waits, and the readers behind it are told together") {
  LineScene scene;
  const auto reader = [](const std::string& owner) { return ReadLock{waiting(owner)}; };
  const WriteLock writer{waiting("w:1")};
  const std::string channel = "redisson_rwlock:{deploy}";
  REQUIRE(is_held(scene.ask(reader("r:1"))));
  REQUIRE(is_held(scene.ask(reader("r:2"))));
  Listener of_writer{scene.server, Channel{channel + ":w:1"}};
  CHECK(busy(scene.ask(writer)).position == 1);
  CHECK(busy(scene.ask(reader("r:3"))).position == 2);
  CHECK(busy(scene.ask(reader("r:4"))).position == 3);
  CHECK(of_writer.heard().starts_with("1 "));  // asked whether it lives
  CHECK(of_writer.heard().starts_with("1 "));
  CHECK(is_held(scene.ask(reader("r:1"))));  // it reads already

  Listener third{scene.server, Channel{channel + ":r:3"}};
  Listener fourth{scene.server, Channel{channel + ":r:4"}};
  scene.Scene::release(reader("r:1"));
  CHECK(of_writer.silence());
  scene.Scene::release(reader("r:2"));
  CHECK(of_writer.heard() == "0");
  CHECK(is_held(scene.ask(writer)));
  CHECK(third.heard().starts_with("1 "));
  CHECK(fourth.heard().starts_with("2 "));

  scene.Scene::release(writer);
  CHECK(third.heard() == "0");
  CHECK(fourth.heard() == "0");
  CHECK(is_held(scene.ask(reader("r:4"))));
  CHECK(is_held(scene.ask(reader("r:3"))));
  CHECK(scene.line().empty());
}

TEST_CASE("readers behind a writer that gives up are told at once, beside those who read") {
  LineScene scene;
  const WriteLock writer{waiting("w:1")};
  const ReadLock second{waiting("r:2")};
  scene.ask(ReadLock{waiting("r:1")});
  const Listener of_writer{scene.server, Channel{"redisson_rwlock:{deploy}:w:1"}};
  scene.ask(writer);
  CHECK(is_busy(scene.ask(second)));
  Listener listener{scene.server, Channel{"redisson_rwlock:{deploy}:r:2"}};
  scene.undo(writer);
  CHECK(listener.heard().starts_with("1 "));
  CHECK(listener.heard() == "0");
  CHECK(is_held(scene.ask(second)));
}

TEST_CASE("a writer that was killed while it waited hinders no reader beside those who read") {
  LineScene scene;
  scene.ask(ReadLock{waiting("r:1")});
  CHECK(busy(scene.ask(WriteLock{waiting("w:1")})).position == 1);
  CHECK(is_held(scene.ask(ReadLock{waiting("r:2")})));
  CHECK(scene.line().empty());
}

TEST_CASE("readers that the end of a lease or another client let in are told by the first of them") {
  LineScene scene;
  const auto reader = [](const std::string& owner) { return ReadLock{waiting(owner)}; };
  const std::string channel = "redisson_rwlock:{deploy}";
  scene.ask(WriteLock{waiting("w:1")});
  Listener second{scene.server, Channel{channel + ":r:2"}};
  for (const char* owner : {"r:1", "r:2"}) CHECK(is_busy(scene.ask(reader(owner))));
  scene.server.cli({"DEL", "deploy"});  // as Redisson leaves it, or the end of a lease
  CHECK(is_held(scene.ask(reader("r:1"))));
  CHECK(second.heard().starts_with("1 "));
  CHECK(second.heard() == "0");
}

TEST_CASE("as many waiters are told as the permits that came back serve") {
  LineScene scene;
  const auto permits = [](const std::string& owner, std::int64_t count) {
    return Permits{waiting(owner), {.count = count, .total = 3}};
  };
  const std::string channel = "redisson_sc:{deploy}";
  REQUIRE(is_held(scene.ask(permits("a:1", 3))));
  CHECK(busy(scene.ask(permits("b:1", 1))).position == 1);
  CHECK(busy(scene.ask(permits("c:1", 2))).position == 2);
  CHECK(busy(scene.ask(permits("d:1", 1))).position == 3);
  Listener one{scene.server, Channel{channel + ":b:1"}};
  Listener two{scene.server, Channel{channel + ":c:1"}};
  Listener three{scene.server, Channel{channel + ":d:1"}};
  scene.Scene::release(permits("a:1", 3));
  CHECK(one.heard() == "0");
  CHECK(two.heard() == "0");
  CHECK(three.silence());
  CHECK(is_held(scene.ask(permits("c:1", 2))));
  CHECK(is_held(scene.ask(permits("b:1", 1))));
}

TEST_CASE("who gives up waiting for permits leaves the line, and passes on that it was told") {
  LineScene scene;
  const auto permits = [](const std::string& owner) {
    return Permits{waiting(owner), {.count = 1, .total = 1}};
  };
  scene.ask(permits("a:1"));
  scene.ask(permits("b:1"));
  scene.ask(permits("c:1"));
  Listener first{scene.server, Channel{"redisson_sc:{deploy}:b:1"}};
  Listener second{scene.server, Channel{"redisson_sc:{deploy}:c:1"}};
  scene.Scene::release(permits("a:1"));
  CHECK(first.heard() == "0");

  scene.undo(permits("b:1"));
  CHECK(second.heard() == "1 -2");
  CHECK(second.heard() == "0");
  CHECK(scene.line() == "c:1");
}

TEST_CASE("permits that no release of ours gave back are told to the line by who finds them") {
  LineScene scene;
  const auto permits = [](const std::string& owner) {
    return Permits{waiting(owner), {.count = 1, .total = 3}};
  };
  const std::string taken = "{deploy}:timeout";
  const Permits all{waiting("a:1"), {.count = 3, .total = 3}};
  const auto fill = [&] { return std::get<Held>(scene.ask(all)).permits; };
  const auto listener = [&](const std::string& owner) {
    return Listener{scene.server, Channel{"redisson_sc:{deploy}:" + owner}};
  };
  Listener first = listener("b:1"), second = listener("c:1");

  std::vector<std::string> ids = fill();
  scene.ask(permits("b:1"));
  scene.ask(permits("c:1"));
  for (const std::string& id : ids) scene.server.cli({"ZADD", taken, "XX", "1", id});  // its lease has ended
  REQUIRE(is_held(scene.ask(permits("d:1"))));                                         // a newcomer
  CHECK(first.heard() == "0");
  CHECK(second.heard() == "0");

  scene.redis.run(command({"FLUSHALL"}));
  ids = fill();
  scene.ask(permits("b:1"));
  scene.ask(permits("c:1"));
  for (const std::string& id : ids) scene.server.cli({"ZREM", taken, id});  // as another client does
  scene.server.cli({"INCRBY", "deploy", "3"});
  REQUIRE(is_held(scene.ask(permits("b:1"))));
  CHECK(second.heard() == "1 -2");
  CHECK(second.heard() == "0");
}

TEST_CASE("permits that are too few for the first serve the next, but not more than ten times") {
  LineScene scene;
  const auto permits = [](const std::string& owner, std::int64_t count) {
    return Permits{waiting(owner), {.count = count, .total = 3}};
  };
  scene.ask(permits("a:1", 2));
  const Listener first{scene.server, Channel{"redisson_sc:{deploy}:b:1"}};
  CHECK(busy(scene.ask(permits("b:1", 3))).position == 1);
  for (int i = 0; i < 10; ++i) {
    const Permits small = permits("n:" + std::to_string(i), 1);
    REQUIRE(is_held(scene.ask(small)));
    scene.Scene::release(small);
  }
  CHECK(busy(scene.ask(permits("n:10", 1))).position == 2);
}

TEST_CASE("a key of another type in the place of a line refuses a waiter, and hinders no release") {
  LineScene scene;
  scene.ask("a:1");
  scene.server.cli({"SET", kLine, "x"});
  const Attempt refused = scene.ask("b:1");
  CHECK(std::get<Failure>(refused).kind == Error::wrong_type);
  const Released released = scene.release("a:1");
  CHECK(released.how == Released::How::yes);
  CHECK(released.unannounced.find("WRONGTYPE") != std::string::npos);
}
