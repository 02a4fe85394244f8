#include "sync/kinds/line.h"

#include <doctest/doctest.h>

#include <memory>
#include <optional>

#include "base/text.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/scene.h"
#include "support/skipped.h"
#include "sync/kinds/answers.h"
#include "sync/kinds/arrival.h"
#include "sync/kinds/fenced.h"
#include "sync/kinds/lock.h"
#include "sync/kinds/permit_lock.h"
#include "sync/kinds/pool.h"
#include "sync/kinds/read_write.h"

using namespace rlock;
using namespace rlock::test;
using std::chrono_literals::operator""ms;

namespace {

const std::string kChannel = "redisson_lock__channel:{deploy}";
const std::string kLine = "redisson_unlock_latch:{deploy}:line";

Claim waiting(const std::string& owner) {
  return {.name = LockName{"deploy"}, .owner = Owner{owner}, .lease = 30000ms, .if_busy = IfBusy::place};
}

Claim leaving(const std::string& owner) {
  Claim claim = waiting(owner);
  claim.if_busy = IfBusy::leave;
  return claim;
}

Lock in_cluster(const std::string& owner) {
  Claim claim = waiting(owner);
  claim.pub_sub = PubSub::sharded_too;
  return Lock{claim};
}

const Busy& busy(const AcquireAnswer& answer) {
  REQUIRE(std::holds_alternative<Busy>(answer));
  return std::get<Busy>(answer);
}

/// A server whose locks all have the name "deploy".
struct LineScene : Scene {
  using Scene::ask;
  AcquireAnswer ask(const std::string& owner) { return ask(Lock{waiting(owner)}); }
  Released release(const std::string& owner) { return Scene::release(Lock{waiting(owner)}); }
  std::string line() { return server.cli({"ZRANGE", kLine, "0", "-1"}); }
  std::vector<std::string> known_of(const std::string& owner) {
    return split(server.cli({"HGET", kLine + ":waiters", owner}), ' ');
  }
  /// Moves the time at which `owner` was told back by this many ms.
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
    "a chosen waiter asks at once; after a release by another client the second waiter steps in for a frozen first") {
  const Line line{waiting("me:1"), Channel{kChannel}};
  CHECK(line.read_notice(says(kChannel + ":me:1", "0"), in_place(7)).ask_after == 0ms);
  CHECK(line.read_notice({Channel{kChannel + ":me:1"}, std::nullopt}, in_place(2)).ask_after == 0ms);
  CHECK(line.read_notice({Channel{kChannel + ":me:1"}, std::nullopt}, in_place(7)).ask_after == 4ms);
  CHECK(line.read_notice(says(kChannel, "0"), in_place(1)).ask_after == 0ms);
  CHECK(line.read_notice(says(kChannel, "0"), in_place(2)).ask_after == 300ms);
  CHECK_FALSE(line.read_notice({Channel{kChannel}, std::nullopt}, in_place(2)).ask_after);
  CHECK_FALSE(line.read_notice(says(kChannel, "0"), in_place(3)).ask_after);
}

TEST_CASE("when a line begins, waiters of a lost line ask one after the other") {
  const Line line{waiting("me:1"), Channel{kChannel}};
  CHECK(line.read_notice(says(kChannel + ":", "0"), in_place(7)).ask_after == 4ms);
  CHECK_FALSE(line.read_notice({Channel{kChannel + ":"}, std::nullopt}, in_place(7)).ask_after);
}

TEST_CASE(
    "after a failover the first two ask at once, and a server gets no more than 2,000 waiters a second") {
  CHECK(Line::pause_behind_others(Busy{}) == 0ms);
  CHECK(Line::pause_behind_others(in_place(1)) == 0ms);
  CHECK(Line::pause_behind_others(in_place(2)) == 0ms);
  CHECK(Line::pause_behind_others(in_place(3)) == 2ms);
  CHECK(Line::pause_behind_others(in_place(10'000)) == 5000ms);
  CHECK(Line::pause_behind_others(in_place(100'000)) == 50'000ms);
  CHECK(Line::pause_behind_others(in_place(std::numeric_limits<std::int64_t>::max())) == 50'000ms);
}

TEST_CASE("a waiter that moves up learns its place and when the lease ends") {
  const Line line{waiting("me:1"), Channel{kChannel}};
  Busy place = in_place(3);
  const TimePoint now = Clock::now();

  const Line::Notice second = line.read_notice(says(kChannel + ":me:1", "2 500"), place);
  REQUIRE(second.place == 2);
  CHECK_FALSE(second.ask_after);
  Line::move_up(place, second, now);
  CHECK(place.position == 2);
  CHECK(place.retry_after == 700ms);  // if the first waiter is frozen, the second asks after it
  CHECK(place.rest == 500ms);
  CHECK(place.seen_at == now);

  Line::move_up(place, line.read_notice(says(kChannel + ":me:1", "1 -1"), place), now);
  CHECK(place.position == 1);
  CHECK(place.no_ttl);
  CHECK(place.retry_after == 2000ms);
}

TEST_CASE("a waiter that is told to come later leaves the release to others for a moment") {
  const Line line{waiting("me:1"), Channel{kChannel}};
  const Line::Notice heard = line.read_notice(says(kChannel + ":me:1", "later 10"), in_place(1));
  CHECK(heard.ask_after == 10ms);
  CHECK(heard.not_before);
  CHECK(line.read_notice(says(kChannel + ":me:1", "later 60000"), in_place(1)).ask_after == 0ms);
  CHECK(line.read_notice(says(kChannel + ":me:1", "later x"), in_place(1)).ask_after == 0ms);
}

TEST_CASE("an unknown message is a reason to ask") {
  const Line line{waiting("me:1"), Channel{kChannel}};
  for (const std::string text : {"", "1", "0 5", "-1 5", "x y", "1 2 3", "99999999999999999999 1"}) {
    CAPTURE(text);
    const Line::Notice heard = line.read_notice(says(kChannel + ":me:1", text), in_place(3));
    CHECK(heard.ask_after == 0ms);
    CHECK_FALSE(heard.place);
  }
}

// --- server ----------------------------------------------------------------------------------------

TEST_CASE(
    "a waiter has a place in the order of arrival, and an acquire without a wait leaves nothing behind") {
  LineScene scene;
  scene.ask("a:1");
  CHECK(busy(scene.ask("b:1")).position == 1);
  CHECK(busy(scene.ask("c:1")).position == 2);
  CHECK(busy(scene.ask("b:1")).waiters == 2);
  CHECK(busy(scene.ask("b:1")).holder == "a:1");
  CHECK(scene.line() == "b:1\nc:1");

  const Busy& left = busy(scene.ask(Lock{leaving("d:1")}));
  CHECK_FALSE(left.position);
  CHECK(left.waiters == 2);
  CHECK(scene.line() == "b:1\nc:1");
  CHECK(scene.server.pttl(kLine) > 0);
  CHECK(scene.server.pttl(kLine + ":waiters") > 0);
}

TEST_CASE("the facts of a waiter end with the line") {
  LineScene scene;
  scene.ask("a:1");
  scene.server.cli({"HSET", kLine + ":facts", "b:1", "{}"});
  scene.ask("b:1");
  CHECK(scene.server.pttl(kLine + ":facts") > 0);
}

TEST_CASE("the further back a waiter stands, the more seldom it asks, but at least every two minutes") {
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

TEST_CASE("in a cluster a waiter that hears only the sharded message counts as alive") {
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  LineScene scene;
  Listener first{scene.server, Channel{kChannel + ":b:1"}, /*sharded=*/true};
  for (const char* owner : {"a:1", "b:1"}) scene.ask(in_cluster(owner));
  scene.Scene::release(in_cluster("a:1"));
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

TEST_CASE(
    "waiters behind one that has waited longer learn that they have moved back, as far as they listen") {
  LineScene scene;
  for (const char* owner : {"a:1", "c:1", "d:1", "e:1"}) scene.ask(owner);
  Listener first = scene.listener("c:1");
  Listener second = scene.listener("d:1");
  Listener third = scene.listener("e:1");
  const Lock earlier{waiting("b:1")};
  CHECK(busy(earlier.read(scene.redis.run(earlier.ask(60000ms)))).position == 1);
  CHECK(first.heard().starts_with("2 "));
  CHECK(second.heard().starts_with("3 "));
  CHECK(third.silence());
}

TEST_CASE("a new line is announced once, to the waiters of a lost line") {
  LineScene scene;
  scene.ask("a:1");
  Listener all{scene.server, Channel{kChannel + ":"}};
  scene.ask("b:1");
  CHECK(all.heard() == "0");  // announces the line that begins with b
  scene.ask("c:1");
  CHECK(all.silence());
  scene.server.cli({"DEL", kLine});
  scene.ask("c:1");
  CHECK(all.heard() == "0");
  scene.ask("b:1");
  CHECK(all.silence());
}

TEST_CASE("a waiter whose line was lost tells the others to ask again when it acquires the lock") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);
  scene.server.cli({"DEL", kLine});
  scene.release("a:1");
  Listener all{scene.server, Channel{kChannel + ":"}};
  const Lock earlier{waiting("b:1")};
  CHECK(std::holds_alternative<Held>(earlier.read(scene.redis.run(earlier.ask(60000ms)))));
  CHECK(all.heard() == "0");
}

TEST_CASE("a waiter that is dropped from a line without its hash is told to ask again") {
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
  CHECK(std::stoll(known.at(1)) > 1'700'000'000'000'000);  // microseconds since the epoch
  known.at(1) = std::to_string(std::stoll(known.at(1)) + 60'000'000);
  scene.server.cli({"ZADD", kLine, known.at(1), "b:1"});
  scene.server.cli({"HSET", kLine + ":waiters", "b:1", joined(known, " ")});

  CHECK(busy(scene.ask("c:1")).position == 2);
  CHECK(busy(scene.ask("d:1")).position == 3);
  const Lock earlier{waiting("e:1")};  // it has waited longer than the whole line, and has lost its place
  CHECK(busy(earlier.read(scene.redis.run(earlier.ask(120000ms)))).position == 1);
  CHECK(scene.line() == "e:1\nb:1\nc:1\nd:1");
}

TEST_CASE("an impossible score in the line moves no later waiter") {
  LineScene scene;
  scene.ask("a:1");
  scene.ask("b:1");
  scene.server.cli({"ZADD", kLine, "1e300", "x"});
  CHECK(busy(scene.ask("c:1")).position == 2);
  CHECK(scene.line() == "b:1\nc:1\nx");
}

TEST_CASE("a release tells the first of the line that it is its turn, and Redisson's channel as always") {
  LineScene scene;
  Listener first = scene.listener("b:1");
  Listener second = scene.listener("c:1");
  Listener redisson{scene.server, Channel{kChannel}};
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);

  CHECK(scene.release("a:1").unannounced.empty());
  CHECK(first.heard() == "0");
  CHECK(redisson.heard() == "0");
  CHECK(second.heard() == "2 0");

  const std::string told = scene.known_of("b:1").at(3);
  CHECK(told != "0");
  CHECK(scene.known_of("c:1").at(3) == "0");
  scene.ask("a:1");
  scene.release("a:1");
  CHECK(scene.known_of("b:1").at(3) == told);  // the time of b runs from the first message
}

TEST_CASE("if only the first two listen, the first is always told to ask at once") {
  LineScene scene;
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

TEST_CASE("in a cluster the first two hear each release twice, and are told to ask at once") {
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  LineScene scene;
  const Listener first{scene.server, Channel{kChannel}};
  const Listener first_sharded{scene.server, Channel{kChannel}, /*sharded=*/true};
  const Listener second{scene.server, Channel{kChannel}};
  const Listener second_sharded{scene.server, Channel{kChannel}, /*sharded=*/true};
  const Listener told = scene.listener("b:1");
  const Listener next = scene.listener("c:1");
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(in_cluster(owner));
  scene.Scene::release(in_cluster("a:1"));
  CHECK(scene.known_of("") == std::vector<std::string>{""});  // no note of other clients
}

TEST_CASE("beside a waiter of another client some releases are left to it for a moment") {
  LineScene scene;
  const Listener redisson{scene.server, Channel{kChannel}};
  const Listener first_too{scene.server, Channel{kChannel}};
  Listener first = scene.listener("b:1");
  int at_once = 0;
  int later = 0;
  const bool both = eventually([&] {
    scene.ask("a:1");
    scene.ask("b:1");
    scene.release("a:1");
    (first.heard() == "0" ? at_once : later) += 1;
    scene.ask("b:1");  // else b:1 would count as passed, and after ten passes a:1 would not get the lock
    scene.release("b:1");
    return at_once > 0 && later > 0;
  });
  CHECK(both);
}

TEST_CASE("in a long line, other clients count for two seconds if they have heard each release for 50 ms") {
  LineScene scene;
  const Listener first_too{scene.server, Channel{kChannel}};
  const Listener second_too{scene.server, Channel{kChannel}};
  Listener first = scene.listener("b:1");
  const Listener second = scene.listener("c:1");
  const Listener third = scene.listener("d:1");
  const auto release = [&] {
    for (const char* owner : {"a:1", "b:1", "c:1", "d:1"}) scene.ask(owner);
    scene.release("a:1");
    return first.heard();
  };
  const auto noted = [&] { return std::stoll(scene.known_of("").at(1)); };

  std::optional<Listener> other{std::in_place, scene.server, Channel{kChannel}};
  // Not "later 10": the third listener may be a waiter whose place has just changed.
  CHECK(release() == "0");
  CHECK(noted() > 0);
  other.reset();
  REQUIRE(eventually([&] { return scene.server.cli({"PUBSUB", "NUMSUB", kChannel}) == kChannel + "\n2"; }));
  CHECK(release() == "0");
  CHECK(noted() == 0);

  other.emplace(scene.server, Channel{kChannel});
  CHECK(release() == "0");
  const auto since = noted();
  CHECK(first.silence());  // for 50 ms
  release();
  CHECK(noted() >= since + 2050);
}

TEST_CASE("in a long line, a release that other clients hear prolongs their time only if it is almost over") {
  LineScene scene;
  const Listener first_too{scene.server, Channel{kChannel}};
  const Listener second_too{scene.server, Channel{kChannel}};
  const Listener other{scene.server, Channel{kChannel}};
  const Listener first = scene.listener("b:1"), second = scene.listener("c:1"), third = scene.listener("d:1");
  /// By how many ms a release prolongs the time of the other clients, which had `rest` ms left before it.
  const auto noted_after = [&](std::int64_t rest) {
    for (const char* owner : {"a:1", "b:1", "c:1", "d:1"}) scene.ask(owner);
    const std::int64_t before = std::stoll(scene.server.cli({"TIME"})) * 1000 + rest;
    scene.server.cli({"HSET", kLine + ":waiters", "", "0 " + std::to_string(before)});
    scene.release("a:1");
    return std::stoll(scene.known_of("").at(1)) - before;
  };
  CHECK(noted_after(1000) > 0);
  CHECK(noted_after(60'000) == 0);
}

TEST_CASE(
    "a waiter with --newest stands behind those that came before it, and the next one takes over its place") {
  LineScene scene;
  scene.ask("a:1");
  scene.ask("b:1");
  const auto newest = [&](const std::string& owner, Milliseconds waited = 0ms) {
    Claim claim = waiting(owner);
    claim.ticket = std::get<Held>(scene.ask(Arrival{claim, kinds::lock, owner})).ticket;
    const Lock lock{claim};
    return busy(lock.read(scene.redis.run(lock.ask(waited)))).position;
  };
  CHECK(newest("c:1") == 2);
  const Listener behind = scene.listener("d:1");
  scene.ask("d:1");
  CHECK(newest("e:1") == 2);
  CHECK(scene.line() == "b:1\ne:1\nd:1");
  // It waits longer than all others, because its arrival was long on its way.
  CHECK(newest("f:1", 60000ms) == 1);
  CHECK(scene.line() == "f:1\nb:1\nd:1");
}

TEST_CASE("the notes of a line without its hash end with the line") {
  LineScene scene;
  const Listener redisson{scene.server, Channel{kChannel}};
  const Listener redisson_too{scene.server, Channel{kChannel}};
  const Listener redisson_three{scene.server, Channel{kChannel}};
  const Listener redisson_four{scene.server, Channel{kChannel}};
  scene.ask("a:1");
  for (int i = 0; i < 501; ++i) scene.ask("b:" + std::to_string(i));  // a release looks at 500 waiters
  scene.server.cli({"DEL", kLine + ":waiters"});
  scene.release("a:1");
  REQUIRE(scene.server.has(kLine));
  REQUIRE(scene.server.has(kLine + ":waiters"));
  CHECK(scene.server.pttl(kLine + ":waiters") > scene.server.pttl(kLine) - 1000);
}

TEST_CASE("a new holder leaves the line, and the waiters at its front learn their places") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1", "d:1", "e:1"}) scene.ask(owner);
  Listener first = scene.listener("b:1");
  Listener second = scene.listener("c:1");
  Listener third = scene.listener("d:1");
  Listener fourth = scene.listener("e:1");
  scene.server.cli({"HSET", kLine + ":facts", "b:1", "{}", "c:1", "{}"});
  scene.release("a:1");
  CHECK(first.heard() == "0");

  CHECK(second.heard() == "2 0");
  CHECK(third.heard() == "3 0");

  CHECK(is_held(scene.ask("b:1")));
  CHECK(second.heard().starts_with("1 "));
  CHECK(third.heard().starts_with("2 "));
  CHECK(fourth.silence());
  CHECK(scene.line() == "c:1\nd:1\ne:1");
  CHECK(scene.server.cli({"HEXISTS", kLine + ":waiters", "b:1"}) == "0");
  CHECK(scene.server.cli({"HEXISTS", kLine + ":facts", "b:1"}) == "0");
}

TEST_CASE("a killed waiter at the front of a moving line is dropped") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1", "d:1", "e:1"}) scene.ask(owner);
  Listener first = scene.listener("b:1");
  Listener third = scene.listener("e:1");
  scene.release("a:1");
  CHECK(first.heard() == "0");
  CHECK(third.heard() == "2 0");
  CHECK(scene.line() == "b:1\ne:1");
  scene.ask("b:1");
  CHECK(third.heard().starts_with("1 "));
  CHECK(scene.line() == "e:1");
}

TEST_CASE(
    "if the first is frozen, the next two that live ask soon after a release, however many were killed") {
  LineScene scene;
  for (const char* owner : {"a:1", "frozen:1", "dead:1", "b:1", "dead:2", "c:1", "d:1"}) scene.ask(owner);
  const Listener frozen = scene.listener("frozen:1");
  Listener second = scene.listener("b:1");
  Listener third = scene.listener("c:1");
  Listener fourth = scene.listener("d:1");
  scene.release("a:1");
  CHECK(second.heard() == "2 0");
  CHECK(third.heard() == "3 0");
  CHECK(fourth.silence());
  CHECK(scene.line() == "frozen:1\nb:1\nc:1\nd:1");
}

TEST_CASE("of many killed waiters at the front, sixteen leave the line at a time") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1"}) scene.ask(owner);
  for (int i = 0; i < 40; ++i) scene.ask("dead:" + std::to_string(i));
  scene.ask("c:1");
  const Listener first = scene.listener("b:1");
  const Listener last = scene.listener("c:1");
  scene.release("a:1");
  CHECK(scene.server.cli({"ZCARD", kLine}) == "26");
  scene.ask("b:1");
  CHECK(scene.server.cli({"ZCARD", kLine}) == "9");
}

TEST_CASE("if the first was killed the next is told in the same call, however many were killed") {
  LineScene scene;
  scene.ask("a:1");
  for (int i = 0; i < 40; ++i) scene.ask("dead:" + std::to_string(i));
  scene.ask("b:1");
  Listener living = scene.listener("b:1");
  scene.release("a:1");
  CHECK(living.heard() == "0");
  CHECK(scene.line() == "b:1");
}

TEST_CASE("if the first was killed the next is told, and the new second learns its place") {
  LineScene scene;
  for (const char* owner : {"a:1", "dead:1", "b:1", "c:1", "d:1"}) scene.ask(owner);
  Listener next = scene.listener("b:1");
  Listener second = scene.listener("c:1");
  Listener third = scene.listener("d:1");
  scene.release("a:1");
  CHECK(next.heard() == "0");
  CHECK(second.heard() == "2 0");
  CHECK(third.heard() == "3 0");
}

TEST_CASE("an empty line leaves no key behind") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1"}) scene.ask(owner);
  scene.release("a:1");
  CHECK(is_held(scene.ask("c:1")));
  scene.ask("b:1");
  scene.release("c:1");  // b:1 was passed once, and nobody listens
  CHECK(scene.server.cli({"KEYS", "*"}).empty());
}

TEST_CASE("a newcomer may take a free lock, but passes no waiter that was passed ten times") {
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

TEST_CASE("a newcomer that may not pass tells the first waiter that the lock is free, and asks again later") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1"}) scene.ask(owner);
  Listener first = scene.listener("b:1");
  scene.passed_ten_times();
  scene.server.del("deploy");  // or as at the end of its lease
  CHECK(busy(scene.ask("n:1")).retry_after == 1010ms);
  CHECK(first.heard() == "0");
  CHECK(scene.known_of("b:1").at(3) != "0");  // the time at which it was told
}

TEST_CASE("dead waiters in front do not hide one that may not be passed") {
  LineScene scene;
  for (const char* owner : {"a:1", "dead:1", "b:1"}) scene.ask(owner);
  Listener living = scene.listener("b:1");
  scene.passed_ten_times();
  scene.server.cli({"HSET", kLine + ":waiters", "dead:1", "1 1 1 0 0"});  // counts as alive until 1970
  scene.server.del("deploy");
  CHECK(is_busy(scene.ask(Lock{leaving("n:1")})));
  CHECK(living.heard() == "0");
  CHECK(scene.line() == "b:1");
}

TEST_CASE(
    "a newcomer passes any number of dead waiters, but a reader behind sixteen others does not go on at once") {
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
  CHECK(busy(ask_reader(16)).retry_after == 260ms);  // behind this many readers there may be a writer
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
    scene.ask("d:1");  // d:1 has come later
    scene.ask("b:1");
    scene.release(newcomer);
  }
  REQUIRE(is_held(scene.ask("b:1")));
  scene.release("b:1");
  CHECK(is_busy(scene.ask("n:10")));
  CHECK(is_held(scene.ask("c:1")));
}

TEST_CASE("a frozen waiter is not passed more often afterwards") {
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
  scene.told_earlier("b:1", 300);  // as if the message had been sent so long ago
  CHECK(is_busy(scene.ask("c:1")));
  CHECK(is_held(scene.ask("b:1")));
}

TEST_CASE(
    "a waiter that was told and stays away for a quarter of a second is passed, and waits again later") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);
  Listener frozen = scene.listener("b:1");
  Listener next = scene.listener("c:1");
  scene.release("a:1");
  CHECK(frozen.heard() == "0");
  for (int i = 0; i < 10; ++i) {  // now b:1 may not be passed, so c:1 gets the lock only after the wait
    REQUIRE(is_held(scene.ask("n:1")));
    scene.release("n:1");
  }
  CHECK(eventually([&] { return is_held(scene.ask("c:1")); }));
  CHECK(busy(scene.ask(Lock{waiting("b:1")})).position == 1);
}

TEST_CASE("a frozen waiter that a newcomer removes from the line gets its old place again") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1", "d:1"}) scene.ask(owner);
  const Listener frozen = scene.listener("b:1");
  const Listener next = scene.listener("c:1");
  const Listener last = scene.listener("d:1");
  scene.release("a:1");
  scene.told_earlier("b:1", 300);  // as if the message had been sent so long ago
  CHECK(is_held(scene.ask("c:1")));
  CHECK(scene.line() == "d:1");
  CHECK(busy(scene.ask(Lock{waiting("b:1")})).position == 1);
  CHECK(scene.line() == "b:1\nd:1");
}

TEST_CASE("a waiter whose notes were lost is told to ask again when a newcomer removes it from the line") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);
  Listener without_notes = scene.listener("b:1");
  scene.server.cli({"HDEL", kLine + ":waiters", "b:1"});
  scene.server.del("deploy");
  CHECK(is_held(scene.ask(Lock{leaving("n:1")})));
  CHECK(without_notes.heard() == "0");
  CHECK(scene.line() == "c:1");
}

TEST_CASE("a waiter that gives up leaves the line, and passes on that it was told") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1", "c:1"}) scene.ask(owner);
  Listener first = scene.listener("b:1");
  Listener next = scene.listener("c:1");
  scene.release("a:1");
  CHECK(first.heard() == "0");
  CHECK(next.heard() == "2 0");

  scene.undo(Lock{waiting("b:1")});
  CHECK(next.heard().starts_with("1 "));
  CHECK(next.heard() == "0");
  CHECK(scene.line() == "c:1");
}

TEST_CASE("a waiter leaves the line of a key that has become a text, and its undo does not fail") {
  LineScene scene;
  scene.ask("holder:1");
  scene.ask("first:1");
  scene.server.cli({"SET", "deploy", "a text"});
  CHECK(scene.release("first:1").how == Released::How::not_ours);
  CHECK(scene.line() == "");
}

TEST_CASE("a new second asks soon if the lock is free, in case the first is frozen") {
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

TEST_CASE("a forced release without rights to publish says why no waiter was told") {
  LineScene scene;
  const auto force = [&] {
    scene.ask("a:1");
    const Reply reply = scene.redis.run(Lock::force(LockName{"deploy"}, Owner{}, PubSub::classic));
    return decode_forced(LockName{"deploy"}, "lock", reply).unannounced;
  };
  scene.become("mute", {"~*", "+@all", "resetchannels"});
  CHECK(contains(force(), "channel"));
  scene.become("half", {"~*", "+@all", "resetchannels", "&" + kChannel});
  CHECK(force().empty());
  const std::string later = std::to_string(std::stoll(scene.server.cli({"TIME"})) * 1000 + 60000);
  scene.server.cli({"RPUSH", "redisson_lock_queue:{deploy}", "java:1"});
  scene.server.cli({"ZADD", "redisson_lock_timeout:{deploy}", later, "java:1"});
  CHECK(contains(force(), "channel"));
  scene.server.cli({"DEL", "redisson_lock_queue:{deploy}"});
  scene.ask("a:1");
  scene.ask("b:1");
  CHECK(contains(force(), "channel"));
}

TEST_CASE("if two processes wait as one owner, the other one asks again when one gives up") {
  LineScene scene;
  for (const char* owner : {"a:1", "b:1"}) scene.ask(owner);
  Listener other = scene.listener("b:1");
  scene.undo(Lock{waiting("b:1")});
  CHECK(other.heard() == "0");
}

TEST_CASE("the places that waiters are told do not count dead waiters in front") {
  LineScene scene;
  scene.ask("a:1");
  scene.ask("dead:1");
  scene.ask("dead:2");
  for (const char* owner : {"dead:1", "dead:2"}) {
    scene.server.cli({"HSET", kLine + ":waiters", owner, "1 1 1 0 0"});  // counts as alive until 1970
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

TEST_CASE("readers do not pass a waiting writer, and the readers behind it are told together") {
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
  CHECK(of_writer.heard().starts_with("1 "));  // asks the writer for a sign of life
  CHECK(of_writer.heard().starts_with("1 "));
  CHECK(is_held(scene.ask(reader("r:1"))));  // r:1 has a hold already

  Listener third{scene.server, Channel{channel + ":r:3"}};
  Listener fourth{scene.server, Channel{channel + ":r:4"}};
  scene.Scene::release(reader("r:1"));
  CHECK(of_writer.silence());
  scene.Scene::release(reader("r:2"));
  CHECK(of_writer.heard() == "0");
  CHECK(third.heard() == "2 0");
  CHECK(fourth.heard() == "3 0");
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

TEST_CASE("readers behind a writer that gives up are told at once if the holders read") {
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

TEST_CASE("a writer that was killed during its wait hinders no reader beside reading holders") {
  LineScene scene;
  scene.ask(ReadLock{waiting("r:1")});
  CHECK(busy(scene.ask(WriteLock{waiting("w:1")})).position == 1);
  CHECK(is_held(scene.ask(ReadLock{waiting("r:2")})));
  CHECK(scene.line().empty());
}

TEST_CASE(
    "readers that may go on after a lease's end, or after another client's release, are told by the first of them") {
  LineScene scene;
  const auto reader = [](const std::string& owner) { return ReadLock{waiting(owner)}; };
  const std::string channel = "redisson_rwlock:{deploy}";
  scene.ask(WriteLock{waiting("w:1")});
  Listener second{scene.server, Channel{channel + ":r:2"}};
  for (const char* owner : {"r:1", "r:2"}) CHECK(is_busy(scene.ask(reader(owner))));
  scene.server.cli({"DEL", "deploy"});  // as after a release by Redisson, or the end of a lease
  CHECK(is_held(scene.ask(reader("r:1"))));
  CHECK(second.heard().starts_with("1 "));
  CHECK(second.heard() == "0");
}

TEST_CASE("as many waiters are told as the returned permits can serve") {
  LineScene scene;
  const auto permits = [](const std::string& owner, std::int64_t count) {
    return PermitLock{waiting(owner), {.count = count, .total = 3}};
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

TEST_CASE("a waiter that gives up waiting for permits leaves the line, and passes on that it was told") {
  LineScene scene;
  const auto permits = [](const std::string& owner) {
    return PermitLock{waiting(owner), {.count = 1, .total = 1}};
  };
  scene.ask(permits("a:1"));
  scene.ask(permits("b:1"));
  scene.ask(permits("c:1"));
  Listener first{scene.server, Channel{"redisson_sc:{deploy}:b:1"}};
  Listener second{scene.server, Channel{"redisson_sc:{deploy}:c:1"}};
  scene.Scene::release(permits("a:1"));
  CHECK(first.heard() == "0");

  scene.undo(permits("b:1"));
  CHECK(second.heard() == "2 0");
  CHECK(second.heard() == "1 -2");
  CHECK(second.heard() == "0");
  CHECK(scene.line() == "c:1");
}

TEST_CASE("permits that another client returned are announced to the line by the client that finds them") {
  LineScene scene;
  const auto permits = [](const std::string& owner) {
    return PermitLock{waiting(owner), {.count = 1, .total = 3}};
  };
  const std::string taken = "{deploy}:timeout";
  const PermitLock all{waiting("a:1"), {.count = 3, .total = 3}};
  const auto fill = [&] { return std::get<Held>(scene.ask(all)).permits; };
  const auto listener = [&](const std::string& owner) {
    return Listener{scene.server, Channel{"redisson_sc:{deploy}:" + owner}};
  };
  Listener first = listener("b:1"), second = listener("c:1");

  std::vector<std::string> ids = fill();
  scene.ask(permits("b:1"));
  scene.ask(permits("c:1"));
  // the leases have ended
  for (const std::string& id : ids) scene.server.cli({"ZADD", taken, "XX", "1", id});
  REQUIRE(is_held(scene.ask(permits("d:1"))));  // a newcomer
  CHECK(first.heard() == "0");
  CHECK(second.heard() == "0");

  scene.redis.run(command({"FLUSHALL"}));
  ids = fill();
  scene.ask(permits("b:1"));
  scene.ask(permits("c:1"));
  for (const std::string& id : ids)
    scene.server.cli({"ZREM", taken, id});  // as another client gives them
                                            // back
  scene.server.cli({"INCRBY", "deploy", "3"});
  REQUIRE(is_held(scene.ask(permits("b:1"))));
  CHECK(second.heard() == "1 -2");
  CHECK(second.heard() == "0");
}

TEST_CASE("permits that are too few for the first waiter serve the next, but not more than ten times") {
  LineScene scene;
  const auto permits = [](const std::string& owner, std::int64_t count) {
    return PermitLock{waiting(owner), {.count = count, .total = 3}};
  };
  scene.ask(permits("a:1", 2));
  const Listener first{scene.server, Channel{"redisson_sc:{deploy}:b:1"}};
  CHECK(busy(scene.ask(permits("b:1", 3))).position == 1);
  for (int i = 0; i < 10; ++i) {
    const PermitLock small = permits("n:" + std::to_string(i), 1);
    REQUIRE(is_held(scene.ask(small)));
    scene.Scene::release(small);
  }
  CHECK(busy(scene.ask(permits("n:10", 1))).position == 2);
}

TEST_CASE("a key of another type in the place of a line refuses a waiter, and hinders no release") {
  LineScene scene;
  scene.ask("a:1");
  scene.server.cli({"SET", kLine, "x"});
  const AcquireAnswer refused = scene.ask("b:1");
  CHECK(std::get<Failure>(refused).kind == Error::wrong_type);
  CHECK(contains(std::get<Failure>(refused).text, kLine));  // it names the possible keys
  const Released released = scene.release("a:1");
  CHECK(released.how == Released::How::yes);
  CHECK(contains(released.unannounced, "WRONGTYPE"));
}
