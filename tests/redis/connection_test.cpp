#include "redis/connection.h"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <algorithm>

#include "support/fake_redis.h"
#include "support/sockets.h"
#include "support/turning.h"

using namespace rlock;
using namespace rlock::test;

namespace {

constexpr Script kScript{"test/one", "0123456789012345678901234567890123456789", "return 1"};
constexpr Script kOther{"test/two", "abcdefabcdefabcdefabcdefabcdefabcdefabcd", "return 2"};

Call call_of(const Script& script) { return {.script = &script, .keys = {"k"}, .args = {"a"}}; }

/// A scripted server and a connection to it.
struct Fixture {
  explicit Fixture(Greeting how = {}) : greeting(std::move(how)) {}

  Connection& connection() {
    if (!made)
      made.emplace(loop, Address{.path = fake.socket()}, nullptr, greeting,
                   later(Clock::now(), Milliseconds{1000}));
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
  Fixture f;
  f.fake.on("HELLO", wire::kSilence);

  const auto question = f.connection().send(call_of(kScript));

  CHECK(f.turn_until([&] { return f.fake.count("EVALSHA") == 1; }));
  CHECK(f.fake.log().front().front() == "HELLO");
  CHECK(f.fake.log().front().at(2) == "SETNAME");
  CHECK_FALSE(f.connection().open());
  CHECK_FALSE(question->answer.has_value());
}

TEST_CASE("nothing follows a greeting with a password or a database before it has been answered") {
  const Greeting with_password{.password = "secret"};
  const Greeting with_user{.user = "app"};
  const Greeting with_db{.db = 3};
  for (const Greeting& greeting : {with_password, with_user, with_db}) {
    Fixture f{greeting};
    f.fake.on("HELLO", wire::kSilence);
    f.fake.on("SELECT", wire::kSilence);
    f.fake.on("SUBSCRIBE", wire::push({wire::text("subscribe"), wire::text("c"), wire::integer(1)}));
    const auto question = f.connection().send(call_of(kScript));
    f.connection().subscribe(Channel{"c"}, false);
    REQUIRE(f.turn_until([&] { return f.fake.count("HELLO") == 1; }));
    CHECK_FALSE(turns(f.loop, [&] { return f.fake.count("EVALSHA") + f.fake.count("SUBSCRIBE") > 0; }, 50ms));

    f.fake.announce(greeting.db == 0 ? "%0\r\n" : "%0\r\n+OK\r\n");
    f.fake.answer(wire::integer(1));
    REQUIRE(f.turn_until([&] { return question->answer.has_value(); }));
    INFO(f.connection().failure().value_or(Failure{}).text);
    CHECK(f.connection().open());
    CHECK(f.fake.count("SUBSCRIBE") == 1);
    CHECK(f.fake.count("SELECT") == (greeting.db == 0 ? 0 : 1));
  }
}

TEST_CASE("a refused greeting is the end, and says what it means") {
  const auto failure_with = [](const std::string& command, const std::string& error) {
    Fixture f{{.user = "app", .password = "secret", .db = 3}};
    f.fake.on(command, wire::error(error));
    f.connection().send(call_of(kScript));
    REQUIRE(f.turn_until([&] { return f.connection().failure().has_value(); }));
    CHECK(f.fake.count("EVALSHA") == 0);
    CHECK(f.connection().failure()->text.find("secret") == std::string::npos);
    return *f.connection().failure();
  };

  CHECK(failure_with("HELLO", "WRONGPASS invalid username-password pair").kind == Error::denied);
  CHECK(failure_with("HELLO", "ERR max number of clients reached").kind == Error::unreachable);
  CHECK(failure_with("SELECT", "ERR DB index is out of range").kind == Error::config);
  CHECK(failure_with("SELECT", "NOPERM no permissions to run the 'select' command").kind == Error::denied);
}

TEST_CASE("answers belong to the questions in their order, whatever is announced between them") {
  Fixture f;
  f.connection().subscribe(Channel{"c"}, false);
  f.connection().subscribe(Channel{"d"}, false);
  const auto first = f.connection().send(call_of(kScript));
  const auto forgotten = f.connection().send(call_of(kScript));  // its place in the order is kept
  const auto second = f.connection().send(command({"GET", "k"}));
  forgotten->forgotten = true;
  REQUIRE(f.turn_until([&] { return f.fake.count("GET") == 1; }));

  f.fake.announce(wire::message("c", "0"));
  f.fake.answer(wire::integer(1));
  f.fake.answer(wire::message("c", "1") + wire::integer(2) + wire::message("d", "2"));
  f.fake.answer(wire::text("three"));

  REQUIRE(f.turn_until([&] { return second->answer.has_value(); }));
  CHECK(first->answer->integer() == 1);
  CHECK(second->answer->text() == "three");
  const auto pushes = f.connection().take_pushes();
  REQUIRE(pushes.size() == 5);
  CHECK(pushes[0].kind == Push::Kind::subscribed);
  CHECK(pushes[2].channel == Channel{"c"});
  CHECK(pushes[4].channel == Channel{"d"});
}

TEST_CASE("of a flood the beginning is kept, and nothing of what nobody listens to") {
  Fixture f;
  f.connection().subscribe(Channel{"c"}, false);
  const auto last = f.connection().send(command({"GET", "k"}));
  REQUIRE(f.turn_until([&] { return f.fake.count("GET") == 1; }));
  std::string flood;
  for (int i = 0; i < 1000; ++i)
    flood += wire::message("c", "0") + wire::message("d", std::string(1000, 'x'));
  f.fake.answer(flood + wire::text("three"));

  REQUIRE(f.turn_until([&] { return last->answer.has_value(); }));
  const auto pushes = f.connection().take_pushes();
  CHECK(pushes.size() <= 100);
  CHECK(std::ranges::all_of(pushes, [](const Push& push) { return push.channel == Channel{"c"}; }));
}

TEST_CASE("a script that the server does not know is sent as a whole, once, and its followers after it") {
  Fixture f;
  Call call = call_of(kScript);
  call.followers = {call_of(kOther)};
  f.fake.on("EVALSHA", wire::error("NOSCRIPT No matching script."));
  f.fake.answer(wire::integer(1));
  f.fake.answer(wire::integer(2));

  const auto question = f.connection().send(call);

  REQUIRE(f.turn_until([&] { return question->answer.has_value() && f.fake.count("EVAL") == 2; }));
  CHECK(question->answer->integer() == 1);
  std::vector<std::string> scripts;
  for (const Words& words : f.fake.log())
    if (words.front() == "EVAL") scripts.push_back(words.at(1));
  CHECK(scripts == std::vector<std::string>{"return 1", "return 2"});
}

TEST_CASE("a question that was given up is not sent again behind what undoes it") {
  Fixture f;
  f.fake.on("EVALSHA", wire::error("NOSCRIPT No matching script."));
  f.fake.answer(wire::integer(1));
  const auto given_up = f.connection().send(call_of(kScript));
  given_up->forgotten = true;
  Call undo = call_of(kOther);
  undo.in_full = true;

  const auto undone = f.connection().send(undo);
  const auto last = f.connection().send(command({"GET", "k"}));
  f.fake.answer(wire::nil());

  REQUIRE(f.turn_until([&] { return last->answer.has_value(); }));
  CHECK(undone->answer.has_value());
  CHECK(f.fake.count("EVAL") == 1);
}

TEST_CASE("what is sent in full has its followers sent in full") {
  Fixture f;
  Call call = call_of(kScript);
  call.followers = {call_of(kOther)};
  call.in_full = true;
  f.fake.answer(wire::integer(1));
  f.fake.answer(wire::integer(2));

  const auto question = f.connection().send(call);
  REQUIRE(f.turn_until([&] { return question->answer.has_value() && f.fake.count("EVAL") == 2; }));
  CHECK(f.fake.count("EVALSHA") == 0);
}

TEST_CASE("NOSCRIPT in answer to the whole script is the answer") {
  Fixture f;
  f.fake.on("EVALSHA", wire::error("NOSCRIPT No matching script."));
  f.fake.on("EVAL", wire::error("NOSCRIPT there are no scripts here"));

  const auto question = f.connection().send(call_of(kScript));

  REQUIRE(f.turn_until([&] { return question->answer.has_value(); }));
  CHECK(question->answer->is_error("NOSCRIPT"));
  CHECK(f.fake.count("EVAL") == 1);
}

TEST_CASE("a server that does not know HELLO is told from one that refuses it") {
  for (const char* error : {"ERR unknown command 'HELLO', with args beginning with: '3'", "NOPROTO sorry"}) {
    Fixture f;
    f.fake.on("HELLO", wire::error(error));
    f.connection();
    REQUIRE(f.turn_until([&] { return f.connection().failure().has_value(); }));
    CHECK(f.connection().wants_resp2() == Connection::Resp2::told);
  }
  Fixture f;
  f.fake.on("HELLO", wire::kClose);
  f.connection();
  REQUIRE(f.turn_until([&] { return f.connection().failure().has_value(); }));
  CHECK(f.connection().wants_resp2() == Connection::Resp2::suspected);
}

TEST_CASE("in RESP2 it says AUTH, SETNAME and SELECT, and nothing else before they are answered") {
  Fixture f{{.user = "app", .password = "secret", .db = 2, .resp3 = false}};
  f.fake.answer(wire::integer(1));
  f.fake.on("CLIENT", wire::error("NOPERM"));  // a name is a courtesy
  const auto question = f.connection().send(call_of(kScript));

  REQUIRE(f.turn_until([&] { return question->answer.has_value(); }));
  const auto log = f.fake.log();
  CHECK(log.at(0) == Words{"AUTH", "app", "secret"});
  CHECK(log.at(1).at(1) == "SETNAME");
  CHECK(log.at(2) == Words{"SELECT", "2"});
  CHECK(log.at(3).front() == "EVALSHA");
}

TEST_CASE("the default user's password is said to AUTH alone, which tells when nobody asked for one") {
  for (const char* user : {"", "default"}) {
    for (const bool resp3 : {true, false}) {
      Fixture f{{.user = user, .password = "secret", .resp3 = resp3}};
      f.fake.answer(wire::integer(1));
      const auto question = f.connection().send(call_of(kScript));
      REQUIRE(f.turn_until([&] { return question->answer.has_value(); }));
      const auto log = f.fake.log();
      CHECK(log.at(0) == Words{"AUTH", "secret"});
      CHECK(log.at(1).front() == (resp3 ? "HELLO" : "CLIENT"));
      CHECK(log.at(2).front() == "EVALSHA");
    }
  }
  for (const char* error :
       {"ERR AUTH <password> called without any password configured for the default user.",
        "ERR Client sent AUTH, but no password is set"}) {
    Fixture f{{.password = "secret"}};
    f.fake.on("AUTH", wire::error(error));
    f.connection().send(call_of(kScript));
    REQUIRE(f.turn_until([&] { return f.connection().failure().has_value(); }));
    CHECK(f.connection().failure()->kind == Error::denied);
    CHECK(f.connection().failure()->text.find("asks for no password") != std::string::npos);
    CHECK(f.fake.count("EVALSHA") == 0);
  }
}

TEST_CASE("in RESP2 messages look like answers and are not taken for them") {
  Fixture f{{.resp3 = false}};
  f.connection().subscribe(Channel{"c"}, false);
  REQUIRE(f.turn_until([&] { return f.connection().has_pushes(); }));

  f.fake.announce(wire::array({wire::text("message"), wire::text("c"), wire::text("0")}));
  REQUIRE(f.turn_until([&] { return f.connection().take_pushes().size() > 0; }));
  CHECK_FALSE(f.connection().failure().has_value());
}

TEST_CASE("a refused subscription is announced, and the answers behind it keep their places") {
  Fixture f;
  f.fake.on("SUBSCRIBE", wire::error("NOPERM this user has no permissions to access one of the channels"));
  f.fake.answer(wire::integer(5));
  f.connection().subscribe(Channel{"c"}, false);
  const auto question = f.connection().send(call_of(kScript));

  REQUIRE(f.turn_until([&] { return question->answer.has_value(); }));
  CHECK(question->answer->integer() == 5);
  const auto pushes = f.connection().take_pushes();
  REQUIRE(pushes.size() == 1);
  CHECK(pushes[0].kind == Push::Kind::refused);
  CHECK(pushes[0].reply.is_error("NOPERM"));
}

TEST_CASE("a call in the middle of a redirection is not taken for a part of the greeting") {
  Fixture f;
  f.fake.on("ASKING", wire::status("OK"));
  f.fake.answer(wire::integer(1));
  const auto question = f.connection().send(call_of(kScript), true);

  REQUIRE(f.turn_until([&] { return question->answer.has_value(); }));
  CHECK(f.connection().open());
  const auto log = f.fake.log();
  CHECK(log.at(1) == Words{"ASKING"});
}

TEST_CASE("garbage, answers that nobody asked for and pushes out of shape end the connection with a reason") {
  const auto failure_after = [](const std::string& bytes) {
    Fixture f;
    REQUIRE(turns(f.loop, [&] { return f.connection().open(); }));
    f.fake.announce(bytes);
    REQUIRE(f.turn_until([&] { return f.connection().failure().has_value(); }));
    CHECK(f.connection().failure()->kind == Error::unreachable);
    return f.connection().failure()->text;
  };
  CHECK(failure_after("HTTP/1.1 400 Bad Request\r\n").find("does not speak the Redis protocol") !=
        std::string::npos);
  CHECK(failure_after(":1\r\n") == "the server answered a question that nobody asked");
  CHECK(failure_after("-ERR \x1b[31mgo away\r\n") == "ERR \\x1b[31mgo away");
  CHECK(failure_after(">3\r\n+message\r\n_\r\n_\r\n").find("where text was expected") != std::string::npos);
}

TEST_CASE("a connection that leads nowhere fails in time, and says how far it came") {
  Loop loop;
  BlackHole hole;
  Connection unanswered{
      loop, {.host = "127.0.0.1", .port = hole.port()}, nullptr, {}, later(Clock::now(), Milliseconds{60})};
  FakeRedis silent;
  silent.on("HELLO", wire::kSilence);
  Connection ungreeted{loop, {.path = silent.socket()}, nullptr, {}, later(Clock::now(), Milliseconds{60})};
  const StopWatch watch;

  CHECK(turns(loop, [&] { return unanswered.failure() && ungreeted.failure(); }));
  CHECK(watch.elapsed() < 500ms);
  CHECK(unanswered.failure()->text == "no answer to the connection attempt");
  CHECK(ungreeted.failure()->text == "connected, but no answer to the greeting");
}

TEST_CASE("a connection that is refused says why") {
  Loop loop;
  const auto failure_of = [&](const Address& address) {
    Connection connection{loop, address, nullptr, {}, later(Clock::now(), Milliseconds{1000})};
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

TEST_CASE("a call that is given up before it could be written is never written") {
  Fixture f{{.db = 1}};
  f.fake.on("HELLO", wire::kSilence);
  f.fake.on("SELECT", wire::kSilence);
  Call call = call_of(kScript);
  call.followers = {call_of(kOther)};
  const auto question = f.connection().send(call);
  REQUIRE(f.turn_until([&] { return f.fake.count("SELECT") == 1; }));

  question->forgotten = true;
  f.fake.announce("%0\r\n+OK\r\n");
  REQUIRE(f.turn_until([&] { return f.connection().open(); }));
  CHECK_FALSE(turns(f.loop, [&] { return f.fake.count("EVALSHA") > 0; }, 30ms));
}

TEST_CASE("a connection at rest wakes nobody") {
  Fixture f;
  REQUIRE(turns(f.loop, [&] { return f.connection().open(); }));
  f.connection().subscribe(Channel{"c"}, false);
  REQUIRE(turns(f.loop, [&] { return f.connection().has_pushes(); }));
  f.connection().send(call_of(kScript));

  CHECK(wake_ups(f.loop, Milliseconds{100}) <= 2);
}

TEST_CASE("the socket is not inherited by a command") {
  Fixture f;
  REQUIRE(turns(f.loop, [&] { return f.connection().open(); }));
  const int flags = ::fcntl(f.connection().fd(), F_GETFD);
  CHECK((flags & FD_CLOEXEC) != 0);
}
