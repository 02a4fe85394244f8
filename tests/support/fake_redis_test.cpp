#include "support/fake_redis.h"

#include <doctest/doctest.h>

#include "support/eventually.h"
#include "support/resp_client.h"

using namespace rlock::test;

TEST_CASE("a fake server gives the scripted answers in the order of the questions") {
  FakeRedis fake;
  RespClient client{"unix:" + fake.socket()};
  fake.answer(wire::integer(3));
  fake.answer(wire::array({wire::text("a"), wire::nil(), wire::error("ERR no")}));

  CHECK(client.ask({"CLIENT", "SETNAME", "x"}) == "OK");
  CHECK(client.ask({"EVALSHA", "sha", "1", "k"}) == "3");
  CHECK(client.ask({"evalsha", "sha", "1", "k"}) == "a\n\n(error) ERR no");
  CHECK(fake.count("EVALSHA") == 2);
  CHECK(fake.log().front() == Words{"CLIENT", "SETNAME", "x"});
}

TEST_CASE("a fake server without an answer waits for one") {
  FakeRedis fake;
  RespClient client{"unix:" + fake.socket()};
  client.send({"GET", "k"});
  client.send({"PING"});
  CHECK_FALSE(client.receive_within(20ms));

  fake.answer(wire::text("late"));
  CHECK(client.receive() == "late");
  CHECK(client.receive() == "PONG");
}

TEST_CASE("a fake server can be told how to answer a command, to announce, to hang up and to record") {
  FakeRedis fake{FakeRedis::Transport::tcp};
  RespClient client{"127.0.0.1:" + std::to_string(fake.port())};
  fake.on("hello", wire::error("ERR unknown command"));
  fake.decide([](const Words& command) -> std::optional<std::string> {
    if (command.front() == "ECHO") return wire::text(command.at(1));
    return std::nullopt;
  });

  CHECK(client.ask({"HELLO", "3"}) == "(error) ERR unknown command");
  CHECK(client.ask({"ECHO", "there"}) == "there");
  CHECK(client.ask({"SUBSCRIBE", "c"}) == "subscribe\nc\n1");
  fake.announce(wire::array({wire::text("message"), wire::text("c"), wire::text("0")}));
  CHECK(client.receive() == "message\nc\n0");
  CHECK(fake.received().starts_with("*2\r\n$5\r\nHELLO\r\n"));
  CHECK(fake.open() == 1);

  fake.hang_up();
  CHECK_THROWS(client.receive());
  CHECK(eventually([&] { return fake.open() == 0; }));
  CHECK(fake.connections() == 1);

  RespClient again{"127.0.0.1:" + std::to_string(fake.port())};
  fake.answer(wire::kClose);
  CHECK_THROWS(again.ask({"GET", "k"}));
}
