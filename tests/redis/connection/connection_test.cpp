#include "redis/connection/connection.h"

#include <doctest/doctest.h>

#include <fcntl.h>

#include "support/contains.h"
#include "support/fake_redis.h"
#include "support/sockets.h"
#include "support/test_calls.h"
#include "support/turning.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// A scripted server, and a connection to it.
struct ConnectionFixture {
  explicit ConnectionFixture(Greeting how = {}) : greeting(std::move(how)) {}

  Connection& connection() {
    if (!made)
      made.emplace(
          loop,
          Connection::Options{
              .address = {.path = fake.socket()}, .greeting = greeting, .open_within = Milliseconds{1000}},
          Clock::now());
    return *made;
  }
  bool turn_until(const std::function<bool()>& fact) { return turns(loop, fact); }

  Loop loop;
  FakeRedis fake;
  Greeting greeting;
  std::optional<Connection> made;
};

}  // namespace

TEST_CASE("the greeting and the first call go together where nothing can be refused") {
  ConnectionFixture f;
  f.fake.on("HELLO", wire::kSilence);

  const auto question = f.connection().send(call_for(kScript));

  CHECK(f.turn_until([&] { return f.fake.count("EVALSHA") == 1; }));
  CHECK(f.fake.log().front().front() == "HELLO");
  CHECK(f.fake.log().front().at(2) == "SETNAME");
  CHECK_FALSE(f.connection().open());
  CHECK_FALSE(question->reply.has_value());
}

TEST_CASE("nothing follows a greeting with a password or a database before it has been answered") {
  const Greeting with_password{.password = "secret"};
  const Greeting with_user{.user = "app"};
  const Greeting with_db{.meant = {.db = 3}};
  for (const Greeting& greeting : {with_password, with_user, with_db}) {
    ConnectionFixture f{greeting};
    f.fake.on("HELLO", wire::kSilence);
    f.fake.on("SELECT", wire::kSilence);
    f.fake.on("SUBSCRIBE", wire::push({wire::text("subscribe"), wire::text("c"), wire::integer(1)}));
    const auto question = f.connection().send(call_for(kScript));
    f.connection().subscribe({.channel = Channel{"c"}});
    REQUIRE(f.turn_until([&] { return f.fake.count("HELLO") == 1; }));
    CHECK_FALSE(turns(f.loop, [&] { return f.fake.count("EVALSHA") + f.fake.count("SUBSCRIBE") > 0; }, 50ms));

    f.fake.announce(greeting.meant.db == 0 ? "%0\r\n" : "%0\r\n+OK\r\n");
    f.fake.answer(wire::integer(1));
    REQUIRE(f.turn_until([&] { return question->reply.has_value(); }));
    INFO(f.connection().failure().value_or(Failure{}).text);
    CHECK(f.connection().open());
    CHECK(f.fake.count("SUBSCRIBE") == 1);
    CHECK(f.fake.count("SELECT") == (greeting.meant.db == 0 ? 0 : 1));
  }
}

TEST_CASE("a server that hangs up on HELLO may know only RESP2") {
  ConnectionFixture f;
  f.fake.on("HELLO", wire::kClose);
  const auto call = f.connection().send(call_for(kScript));
  REQUIRE(f.turn_until([&] { return f.connection().failure().has_value(); }));
  CHECK(f.connection().wants_resp2() == Connection::Resp2::suspected);
  CHECK(call->again);
}

TEST_CASE("a call, its reply and a message between them cross one socket") {
  ConnectionFixture f;
  f.fake.on("EVALSHA", wire::error("NOSCRIPT No matching script."));
  f.connection().subscribe({.channel = Channel{"c"}});
  const auto call = f.connection().send(call_for(kScript));
  f.fake.answer(wire::message("c", "0") + wire::integer(7));

  REQUIRE(f.turn_until([&] { return call->reply.has_value(); }));
  CHECK(call->reply->integer() == 7);
  CHECK(f.connection().take_pushes().size() == 2);
  CHECK(f.fake.count("EVAL") == 1);
}

TEST_CASE("garbage, unrequested replies and malformed pushes end the connection with a reason") {
  const auto failure_after = [](const std::string& bytes) {
    ConnectionFixture f;
    REQUIRE(turns(f.loop, [&] { return f.connection().open(); }));
    f.fake.announce(bytes);
    REQUIRE(f.turn_until([&] { return f.connection().failure().has_value(); }));
    CHECK(f.connection().failure()->kind == Error::unreachable);
    return f.connection().failure()->text;
  };
  CHECK(contains(failure_after("HTTP/1.1 400 Bad Request\r\n"), "does not speak the Redis protocol"));
  CHECK(failure_after(":1\r\n") == "the server sent a reply without a request");
  CHECK(failure_after("-ERR \x1b[31mgo away\r\n") == "ERR \\x1b[31mgo away");
  CHECK(contains(failure_after(">3\r\n+message\r\n_\r\n_\r\n"), "where text was expected"));
}

TEST_CASE("a connection that leads nowhere fails in time, and says how far it came") {
  Loop loop;
  BlackHole hole;
  constexpr Milliseconds kSoon{60};
  Connection unanswered{
      loop, {.address = {.host = "127.0.0.1", .port = hole.port()}, .open_within = kSoon}, Clock::now()};
  FakeRedis silent;
  silent.on("HELLO", wire::kSilence);
  Connection ungreeted{loop, {.address = {.path = silent.socket()}, .open_within = kSoon}, Clock::now()};
  const StopWatch watch;

  CHECK(turns(loop, [&] { return unanswered.failure() && ungreeted.failure(); }));
  CHECK(watch.elapsed() < 4s);
  CHECK(unanswered.failure()->text == "no answer to the connection attempt");
  CHECK(ungreeted.failure()->text == "connected, but no answer to the greeting");
}

TEST_CASE("a connection that is refused says why") {
  Loop loop;
  const auto failure_of = [&](const Address& address) {
    Connection connection{loop, {.address = address, .open_within = Milliseconds{1000}}, Clock::now()};
    REQUIRE(turns(loop, [&] { return connection.failure().has_value(); }));
    return connection.failure()->text;
  };
  TempDir directory;
  write_file(directory / "file", "");
  const auto listener = listen_on_loopback();
  ::close(listener.fd);

  CHECK(failure_of({.path = directory / "none"}) == "no such file or directory");
  CHECK(failure_of({.path = directory / "file"}) == "connection refused");
  CHECK(failure_of({.host = "127.0.0.1", .port = listener.port}) == "connection refused");
  CHECK(failure_of({.host = "::1", .port = listener.port}) != "");
}

TEST_CASE("an idle connection does not wake the loop") {
  ConnectionFixture f;
  REQUIRE(turns(f.loop, [&] { return f.connection().open(); }));
  f.connection().subscribe({.channel = Channel{"c"}});
  REQUIRE(turns(f.loop, [&] { return f.connection().has_pushes(); }));
  f.connection().send(call_for(kScript));

  CHECK(wake_ups(f.loop, Milliseconds{100}) <= 2);
}

TEST_CASE("the socket is not inherited by a command") {
  ConnectionFixture f;
  REQUIRE(turns(f.loop, [&] { return f.connection().open(); }));
  const int flags = ::fcntl(f.connection().fd(), F_GETFD);
  CHECK((flags & FD_CLOEXEC) != 0);
}
