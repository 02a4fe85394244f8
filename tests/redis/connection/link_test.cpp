#include "redis/connection/link.h"

#include <doctest/doctest.h>

#include "redis/connection/backoff.h"
#include "support/contains.h"
#include "support/fake_redis.h"
#include "support/redis_server.h"
#include "support/turning.h"

using namespace rlock;
using namespace rlock::test;

namespace {

const Channel kChannel{"c"};

Target target_at(const std::string& socket) {
  Target target;
  target.addresses = {{.path = socket}};
  return target;
}

struct LinkFixture {
  explicit LinkFixture(const std::string& socket, Target target = {})
      : link(loop, target, nullptr, {.path = socket},
             {.connect = Milliseconds{1000}, .command = Milliseconds{1000}}) {}

  Connection* connection() { return link.connection(Clock::now()); }
  bool opens() {
    return turns(loop, [&] { return connection() != nullptr && connection()->open(); });
  }
  std::optional<Reply> ask(const Call& call) {
    Connection* const to = connection();
    if (to == nullptr) return std::nullopt;
    const auto number = to->number();
    const auto in_flight = to->send(call);
    turns(loop, [&] { return in_flight->reply || link.find(number) == nullptr; });
    return in_flight->reply;
  }

  Loop loop;
  Link link;
};

}  // namespace

TEST_CASE("a connection that lived is reopened at once, one that failed sooner after pauses that double") {
  Backoff backoff{[](Milliseconds span) { return span / 10; }};
  TimePoint now = TimePoint{} + std::chrono::hours{1};
  CHECK(backoff.due(now));

  backoff.began(now);
  now = plus(now, Backoff::kLasting);
  backoff.ended(now);
  CHECK(backoff.due(now));

  for (const Milliseconds pause : {55ms, 110ms, 220ms, 440ms, 550ms, 550ms}) {
    backoff.began(now);
    backoff.ended(now);
    CHECK(remaining(backoff.next(), now) == pause);
    CHECK_FALSE(backoff.due(now));
    now = backoff.next();
  }

  backoff.began(now);
  backoff.ended(now);
  backoff.forget();  // the failure was an answer
  CHECK(backoff.due(now));
  backoff.began(now);
  backoff.ended(now);
  CHECK(remaining(backoff.next(), now) == 55ms);
}

TEST_CASE("a link reconnects when its server is back, within a second") {
  RedisServer redis;
  LinkFixture f{redis.socket()};
  REQUIRE(f.opens());
  const auto first = f.connection()->number();
  CHECK(f.link.contacted());

  redis.kill();
  REQUIRE(turns(f.loop, [&] { return f.connection() == nullptr; }));
  CHECK(f.link.failure().has_value());
  CHECK_FALSE(turns(f.loop, [&] { return f.connection() && f.connection()->open(); }, Milliseconds{700}));
  redis.restart();
  const StopWatch watch;
  CHECK(f.opens());
  CHECK(watch.elapsed() < 4s);
  CHECK(f.connection()->number() != first);
  CHECK(f.link.contacted());
}

TEST_CASE("a server that hangs up at once gets no more than 20 connections a second") {
  FakeRedis fake;
  fake.on("GET", wire::kClose);
  LinkFixture f{fake.socket()};
  const StopWatch watch;
  while (watch.elapsed() < 1000ms) {
    if (Connection* connection = f.connection(); connection && connection->open())
      connection->send(command({"GET", "k"}));
    f.loop.turn(plus(Clock::now(), Milliseconds{1}));
  }
  CHECK(fake.connections() > 2);
  CHECK(fake.connections() <= 20);
}

TEST_CASE("a server without HELLO is greeted in RESP2 from then on") {
  FakeRedis fake;
  fake.on("HELLO", wire::error("ERR unknown command 'HELLO'"));
  fake.on("GET", wire::text("v"));
  LinkFixture f{fake.socket()};

  CHECK(turns(f.loop, [&] { return f.connection() != nullptr && f.connection()->open(); }));
  CHECK_FALSE(f.connection()->resp3());
  CHECK(f.ask(command({"GET", "k"}))->text() == "v");
  fake.hang_up();
  REQUIRE(turns(f.loop, [&] { return fake.open() == 0; }));
  REQUIRE(turns(f.loop, [&] { return f.connection() && f.connection()->open() && fake.open() == 1; }));
  CHECK(fake.count("HELLO") == 1);
}

TEST_CASE("a server that hung up on HELLO is tried in RESP2, and after that in RESP3 again") {
  FakeRedis fake;
  fake.on("HELLO", wire::kClose);
  LinkFixture f{fake.socket()};
  REQUIRE(f.opens());
  CHECK_FALSE(f.connection()->resp3());

  fake.on("HELLO", "%0\r\n");
  fake.hang_up();
  REQUIRE_FALSE(turns(f.loop, [&] { return fake.count("HELLO") == 2; }, Milliseconds{1000}));
  CHECK(f.opens());
  CHECK(f.connection()->resp3());
}

TEST_CASE("a link is not at rest while a reply is outstanding, even if no caller has given up the call") {
  FakeRedis fake;
  fake.on("PING", wire::kSilence);
  LinkFixture f{fake.socket()};
  REQUIRE(f.opens());
  REQUIRE(turns(f.loop, [&] { return f.link.at_rest(); }));
  const auto in_flight = f.connection()->send(command({"PING"}));
  CHECK_FALSE(f.link.at_rest());
}

TEST_CASE("subscribing in RESP2 takes a second connection") {
  FakeRedis fake;
  fake.on("HELLO", wire::error("NOPROTO unsupported protocol version"));
  fake.on("GET", wire::text("v"));
  LinkFixture f{fake.socket()};
  f.link.watch({.channel = kChannel});

  CHECK(turns(f.loop, [&] { return f.link.wakeups() == 1; }));
  CHECK(fake.open() == 2);
  CHECK(f.ask(command({"GET", "k"}))->text() == "v");
}

TEST_CASE("a confirmed subscription is a wake-up, since messages may have been missed") {
  RedisServer redis;
  LinkFixture f{redis.socket()};
  REQUIRE(f.opens());
  f.link.watch({.channel = kChannel});
  REQUIRE(turns(f.loop, [&] { return f.link.wakeups() == 1; }));

  redis.cli({"PUBLISH", "c", "0"});
  REQUIRE(turns(f.loop, [&] { return f.link.wakeups() == 2; }));
  redis.cli({"CLIENT", "KILL", "TYPE", "pubsub"});
  CHECK(turns(f.loop, [&] { return f.link.wakeups() == 3; }));
  CHECK(redis.listeners("c") == 1);

  f.link.unwatch({.channel = kChannel});
  CHECK(turns(f.loop, [&] { return redis.listeners("c") == 0; }));
  redis.cli({"PUBLISH", "c", "0"});
  CHECK_FALSE(turns(f.loop, [&] { return f.link.wakeups() > 3; }, Milliseconds{30}));
}

TEST_CASE("a refused subscription is reported, and calls still work") {
  FakeRedis fake;
  fake.on("SUBSCRIBE", wire::error("NOPERM no permissions to access one of the channels"));
  fake.on("GET", wire::text("v"));
  LinkFixture f{fake.socket()};
  f.link.watch({.channel = kChannel});

  CHECK(turns(f.loop, [&] { return f.link.subscribe_error().has_value(); }));
  CHECK(f.ask(command({"GET", "k"}))->text() == "v");
  CHECK(fake.connections() == 1);
  CHECK(fake.count("SUBSCRIBE") == 1);
}

TEST_CASE("send_on_abandoned writes a whole script behind the data in flight") {
  RedisServer redis;
  LinkFixture f{redis.socket()};
  REQUIRE(f.opens());
  const auto number = f.connection()->number();
  redis.freeze();
  f.connection()->send(command({"SET", "ghost", "1"}));

  CHECK(f.link.losses() == 0);
  f.link.abandon(number, Clock::now());
  CHECK(f.link.find(number) == nullptr);
  CHECK(f.link.losses() == 1);  // listeners ask again
  const Script erase{"test/erase", "0000000000000000000000000000000000000000",
                     "return redis.call('del', KEYS[1])"};
  f.link.send_on_abandoned({{.script = &erase, .keys = {"ghost"}}});
  redis.thaw();

  CHECK(redis.cli({"PING"}) == "PONG");
  CHECK(eventually([&] { return contains(redis.cli({"INFO", "commandstats"}), "cmdstat_del"); }));
  CHECK_FALSE(redis.has("ghost"));
}

TEST_CASE("a password file is read at each connection, and its absence is a failure that passes") {
  RedisServer redis{{.config = {"requirepass first"}}};
  TempDir directory;
  write_file(directory / "password", "first\n");
  Target target = target_at(redis.socket());
  target.password = PasswordSource::file(directory / "password");
  LinkFixture f{redis.socket(), target};
  REQUIRE(f.opens());

  RespClient admin{redis.where()};
  admin.ask({"AUTH", "first"});
  admin.ask({"CONFIG", "SET", "requirepass", "second"});
  ::unlink((directory / "password").c_str());
  admin.ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  REQUIRE(turns(f.loop, [&] { return f.connection() == nullptr && f.link.failure(); }));
  REQUIRE(
      turns(f.loop, [&] { return f.connection() == nullptr && f.link.failure()->kind == Error::config; }));

  write_file(directory / "password", "second\n");
  CHECK(f.opens());
}

TEST_CASE("an idle link does not wake the loop: connected, refused, or without a subscription") {
  RedisServer redis;
  LinkFixture f{redis.socket()};
  REQUIRE(f.opens());
  f.link.watch({.channel = kChannel});
  REQUIRE(turns(f.loop, [&] { return f.link.wakeups() == 1; }));
  CHECK(wake_ups(f.loop, Milliseconds{100}) <= 2);

  redis.kill();
  CHECK(wake_ups(f.loop, Milliseconds{1000}) <= 30);
}

TEST_CASE("a pubsub connection that ends without subscriptions does not wake the loop") {
  FakeRedis fake;
  fake.on("HELLO", wire::error("NOPROTO unsupported protocol version"));
  fake.on("SUBSCRIBE", wire::error("BUSY Redis is busy running a script"));
  LinkFixture f{fake.socket()};
  f.link.watch({.channel = kChannel});
  REQUIRE(turns(f.loop, [&] { return fake.count("SUBSCRIBE") == 1; }));
  turns(f.loop, [] { return false; }, Milliseconds{50});  // the link has read the refusal, and will ask again
  f.link.unwatch({.channel = kChannel});
  const auto question = f.connection()->send(command({"GET", "k"}));
  REQUIRE(turns(f.loop, [&] { return fake.count("GET") == 1; }));

  // This answers GET. The link closes the connection for subscriptions, because it wants none any more.
  fake.announce(wire::integer(1));
  REQUIRE(turns(f.loop, [&] { return question->reply.has_value(); }));
  CHECK(wake_ups(f.loop, Milliseconds{100}) <= 3);
}
