#include "support/tcp_proxy.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include "support/eventually.h"
#include "support/redis_server.h"

using namespace rlock::test;

namespace {

struct Line {
  RedisServer redis;
  TcpProxy proxy{redis.where()};
  std::string address = "127.0.0.1:" + std::to_string(proxy.port());
  RespClient client{address, 2s};
};

}  // namespace

TEST_CASE("a proxy without a fault is not noticed") {
  Line line;
  CHECK(line.client.ask({"SET", "k", std::string(1 << 20, 'x')}) == "OK");
  CHECK(line.client.ask({"GET", "k"}).size() == 1 << 20);
  CHECK(line.proxy.open() == 1);
  CHECK(line.proxy.sent_by_clients().starts_with("*3\r\n$3\r\nSET"));

  line.proxy.bytewise(TcpProxy::Way::to_client);
  CHECK(line.client.ask({"PING"}) == "PONG");
}

TEST_CASE("a proxy delays") {
  Line line;
  line.proxy.delay(TcpProxy::Way::to_server, 60ms);
  line.proxy.delay(TcpProxy::Way::to_client, 40ms);
  StopWatch watch;
  CHECK(line.client.ask({"PING"}) == "PONG");
  CHECK(watch.elapsed() >= 100ms);
}

TEST_CASE("a proxy loses an answer, and all later answers on the same connection") {
  Line line;
  line.proxy.drop(TcpProxy::Way::to_client);
  line.client.send({"INCR", "heard"});
  // The proxy got the reply, and dropped it.
  CHECK(eventually([&] { return line.proxy.bytes(TcpProxy::Way::to_client) > 0; }));
  line.proxy.pass();
  line.client.send({"INCR", "heard"});
  CHECK(eventually([&] { return line.redis.cli({"GET", "heard"}) == "2"; }));
  CHECK_FALSE(line.client.receive_within(20ms));
  CHECK(RespClient{line.address}.ask({"PING"}) == "PONG");
}

TEST_CASE("a proxy loses questions") {
  Line line;
  line.proxy.drop(TcpProxy::Way::to_server);
  line.client.send({"INCR", "unheard"});
  CHECK_FALSE(line.client.receive_within(20ms));
  CHECK_FALSE(line.redis.has("unheard"));
}

TEST_CASE("a proxy loses the answers after the first ones") {
  Line line;
  line.proxy.drop_answers_after(1);
  CHECK(line.client.ask({"PING"}) == "PONG");
  line.client.send({"PING"});
  CHECK_FALSE(line.client.receive_within(20ms));
}

TEST_CASE("a proxy cuts, resets and half-closes in the middle of an answer") {
  SUBCASE("cut") {
    Line line;
    line.proxy.cut_after(TcpProxy::Way::to_client, 3);
    CHECK_THROWS_WITH(line.client.ask({"PING"}), "the server closed the connection");
  }
  SUBCASE("reset") {
    Line line;
    line.proxy.reset_after(TcpProxy::Way::to_client, 3);
    CHECK_THROWS_WITH(line.client.ask({"PING"}), "the server closed the connection");
  }
  SUBCASE("half-close") {
    Line line;
    CHECK(line.client.ask({"PING"}) == "PONG");
    line.proxy.half_close(TcpProxy::Way::to_client);
    CHECK_THROWS_WITH(line.client.ask({"PING"}), "the server closed the connection");
  }
}

TEST_CASE("a proxy lies") {
  Line line;
  line.proxy.garbage("HTTP/1.1 400 Bad Request\r\n");
  CHECK_THROWS_WITH(line.client.ask({"PING"}), "not RESP2: HTTP/1.1 400 Bad Request");

  RespClient flooded{line.address, 300ms};
  line.proxy.flood("$536870912\r\n");
  CHECK_THROWS_WITH(flooded.ask({"PING"}), "the server does not answer");
}

TEST_CASE("a proxy freezes, is silent, refuses and comes back") {
  Line line;
  line.proxy.freeze();
  line.client.send({"PING"});
  CHECK_FALSE(line.client.receive_within(20ms));
  line.proxy.pass();
  CHECK(line.client.receive() == "PONG");

  line.proxy.silence();
  RespClient lonely{line.address, 20ms};
  CHECK_THROWS_WITH(lonely.ask({"PING"}), "the server does not answer");

  line.proxy.obey("refuse");
  CHECK(eventually([&] { return connect_to(line.address) < 0; }));
  line.proxy.obey("pass");
  CHECK(RespClient{line.address}.ask({"PING"}) == "PONG");
  CHECK_THROWS_AS(line.proxy.obey("delay nowhere 3"), std::invalid_argument);

  line.proxy.reset_all();
  CHECK_THROWS(line.client.ask({"PING"}));
}

TEST_CASE("a proxy forgets a connection and serves the next one") {
  Line line;
  CHECK(line.client.ask({"PING"}) == "PONG");
  line.proxy.forget();
  line.client.send({"PING"});
  CHECK_FALSE(line.client.receive_within(20ms));
  CHECK(RespClient{line.address}.ask({"PING"}) == "PONG");
}

TEST_CASE("the proxy is a program, too") {
  RedisServer redis;
  Process proxy{{program("tcp_proxy"), redis.where()}, {.input = "drop sideways\ndrop to_client\n"}};
  CHECK(proxy.exit_code() == 0);
  CHECK(proxy.out().ends_with("\nerror: not to_server or to_client: drop sideways\nok\n"));
}

TEST_CASE("no connection gets through a black hole") {
  const BlackHole hole;
  Process attempt{
      {"timeout", "0.2", "bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/" + std::to_string(hole.port())}};
  CHECK(attempt.exit_code() == 124);
}
