#include "redis/route/cluster.h"

#include <doctest/doctest.h>

#include "base/random.h"
#include "base/text.h"
#include "redis/executor/executor.h"
#include "support/cluster_servers.h"
#include "support/contains.h"
#include "support/fake_redis.h"
#include "support/redis_server.h"
#include "support/skipped.h"
#include "support/turning.h"

using namespace rlock;
using namespace rlock::test;

namespace {

constexpr Milliseconds kLong{20'000};
constexpr Script kSet{"test/set", "0000000000000000000000000000000000000001",
                      "return redis.call('incr', KEYS[1])"};

Call call_on(const std::string& key) { return {.script = &kSet, .keys = {key}}; }

struct ClusterFixture {
  explicit ClusterFixture(const std::string& url, bool retry_first_contact = true)
      : redis(loop, {parse_target(url)}, {.timeouts = {}, .retry_first_contact = retry_first_contact}) {}
  Vote vote(const Call& call, Milliseconds patience = kLong) {
    return redis.run_all(call, with_retries(), within(patience)).front();
  }

  Loop loop;
  Executor redis;
};

Reply entry(std::int64_t first, std::int64_t last, Reply host, std::int64_t port) {
  return Reply{{Reply{first}, Reply{last}, Reply{{std::move(host), Reply{port}, Reply{"id"}}}}};
}

std::string all_slots_at(std::uint16_t port) {
  return wire::array(
      {wire::array({wire::integer(0), wire::integer(16383),
                    wire::array({wire::text("127.0.0.1"), wire::integer(port), wire::text("id")})})});
}

}  // namespace

TEST_CASE("slots are those of the specification: braces, empty braces, no braces") {
  CHECK(slot_of("123456789") == 0x31C3);
  CHECK(slot_of("foo") == 12182);
  CHECK(slot_of("{foo}bar") == 12182);
  CHECK(slot_of("x{foo}{bar}") == 12182);
  CHECK(slot_of("{}foo") != 12182);
  CHECK(slot_of("{foo") == slot_of("{foo"));
  CHECK(slot_of("") == 0);
}

TEST_CASE(
    "impossible slots and ports in a slot map are refused, and a node without a host is on the asked host") {
  const Address asked{.host = "db", .port = 1};
  const auto map = SlotMap::read(
      Reply{{entry(0, 9, Reply{"10.0.0.1"}, 7), entry(10, 10, Reply{}, 8), entry(11, 11, Reply{""}, 9)}},
      asked);
  REQUIRE(map.has_value());
  CHECK(map->node_of(9)->str() == "10.0.0.1:7");
  CHECK(map->node_of(10)->str() == "db:8");
  CHECK(map->node_of(11)->str() == "db:9");
  CHECK(map->node_of(12) == nullptr);

  const auto with_lost =
      SlotMap::read(Reply{{entry(0, 9, Reply{"h"}, 7), entry(10, 16383, Reply{""}, 0)}}, asked);
  REQUIRE(with_lost.has_value());
  CHECK(with_lost->node_of(9)->str() == "h:7");
  CHECK(with_lost->node_of(10) == nullptr);
  CHECK(with_lost->why_no_node(10).starts_with("the cluster has no port for the node that serves slot 10: "));
  CHECK(map->why_no_node(12) == "no node of the cluster serves slot 12");
  const std::vector<std::string> keys = with_lost->key_of_each_node();
  CHECK(keys.size() == 2);
  CHECK(std::ranges::count_if(keys, [](const std::string& key) { return slot_of(key) < 10; }) == 1);

  CHECK_FALSE(SlotMap::read(Reply{"text"}, asked).has_value());
  CHECK_FALSE(SlotMap::read(Reply{{Reply{1}}}, asked).has_value());
  CHECK_FALSE(SlotMap::read(Reply{{entry(0, 16384, Reply{"h"}, 7)}}, asked).has_value());
  CHECK_FALSE(SlotMap::read(Reply{{entry(-1, 5, Reply{"h"}, 7)}}, asked).has_value());
  CHECK_FALSE(SlotMap::read(Reply{{entry(0, 5, Reply{"h"}, 70000)}}, asked).has_value());
  CHECK_FALSE(SlotMap::read(Reply{{entry(0, 5, Reply{"h\x1b[m"}, 7)}}, asked).has_value());
}

TEST_CASE("redirections are read, except those that lead nowhere") {
  const Address asked{.host = "db", .port = 1};
  const auto read = [&](const std::string& text) { return read_redirection(Reply::error(text), asked); };
  CHECK(read("MOVED 3999 10.0.0.1:6381")->to.str() == "10.0.0.1:6381");
  CHECK(read("ASK 16383 ::1:6381")->to.str() == "[::1]:6381");
  CHECK(read("MOVED 3999 :6381")->to.str() == "db:6381");
  for (const char* text :
       {"MOVED", "MOVED 1", "MOVED 16384 h:1", "MOVED x h:1", "MOVED 1 h", "MOVED 1 h:0", "ERR MOVED 1 h:1"})
    CHECK_FALSE(read(text).has_value());
}

TEST_CASE("a server that is no Cluster node is an error of the configuration") {
  FakeRedis fake{FakeRedis::Transport::tcp};
  fake.on("CLUSTER", wire::error("ERR This instance has cluster support disabled"));
  ClusterFixture f{"redis+cluster://127.0.0.1:" + std::to_string(fake.port())};
  const Vote vote = f.vote(call_on("k"));
  REQUIRE(vote.failure());
  CHECK(vote.failure()->kind == Error::config);
}

TEST_CASE("what is known of a failure stays known when a node of a Cluster gives no slot map") {
  FakeRedis fake{FakeRedis::Transport::tcp};
  const std::string address = "127.0.0.1:" + std::to_string(fake.port());
  const auto failure_at = [](const std::string& url) {
    ClusterFixture f{url, false};
    const Vote vote = f.vote(call_on("k"), Milliseconds{1000});
    REQUIRE(vote.failure());
    return *vote.failure();
  };
  SUBCASE("waiting does not mend that it speaks no TLS") {
    fake.greet_with("-ERR Protocol error\r\n");
    CHECK(failure_at("rediss+cluster://" + address).lasts);
  }
  SUBCASE("another node that cannot be reached does not hide that it speaks no TLS") {
    fake.greet_with("-ERR Protocol error\r\n");
    const std::string nobody = "127.0.0.1:" + std::to_string(free_port());
    CHECK(failure_at("rediss+cluster://" + address + "," + nobody).lasts);
    CHECK(failure_at("rediss+cluster://" + nobody + "," + address).lasts);
  }
  SUBCASE("it has answered, with an error that rlock knows") {
    fake.on("CLUSTER", wire::error("LOADING Redis is loading the dataset in memory"));
    CHECK(failure_at("redis+cluster://" + address).answered);
  }
}

TEST_CASE("if redirections lead in a circle, rlock makes few calls and then fails") {
  FakeRedis one{FakeRedis::Transport::tcp}, two{FakeRedis::Transport::tcp};
  one.on("CLUSTER", all_slots_at(one.port()));
  two.on("CLUSTER", all_slots_at(two.port()));
  one.on("EVALSHA", wire::error("MOVED 1 127.0.0.1:" + std::to_string(two.port())));
  two.on("EVALSHA", wire::error("MOVED 1 127.0.0.1:" + std::to_string(one.port())));
  ClusterFixture f{"redis+cluster://127.0.0.1:" + std::to_string(one.port())};
  const Vote vote = f.vote(call_on("k"), Milliseconds{500});
  REQUIRE(vote.failure());
  CHECK_MESSAGE(
      contains(vote.failure()->text, "the nodes of the cluster disagree about which of them has the key"),
      vote.failure()->text);
  CHECK(one.count("EVALSHA") + two.count("EVALSHA") < 200);
}

TEST_CASE("if a redirection leads to a node that does not answer, the failure names this node") {
  FakeRedis one{FakeRedis::Transport::tcp}, two{FakeRedis::Transport::tcp};
  const std::string named = "127.0.0.1:" + std::to_string(two.port());
  one.on("CLUSTER", all_slots_at(one.port()));
  one.on("EVALSHA", wire::error("MOVED " + std::to_string(slot_of("k")) + " " + named));
  two.on("HELLO", wire::kSilence);
  ClusterFixture f{"redis+cluster://127.0.0.1:" + std::to_string(one.port())};
  const Vote vote = f.vote(call_on("k"), Milliseconds{3000});
  REQUIRE(vote.failure());
  CHECK_MESSAGE(contains(vote.failure()->text, named), vote.failure()->text);
}

TEST_CASE(
    "when a slot moves to another node, that counts as a loss: the node may lack what the old one had") {
  FakeRedis one{FakeRedis::Transport::tcp}, two{FakeRedis::Transport::tcp};
  const std::string slot = std::to_string(slot_of("k"));
  one.on("CLUSTER", all_slots_at(one.port()));
  one.on("EVALSHA", wire::integer(1));
  ClusterFixture f{"redis+cluster://127.0.0.1:" + std::to_string(one.port())};
  f.redis.watch(Channel{"{k}"});
  CHECK(f.vote(call_on("k")).good_reply() != nullptr);
  CHECK(f.redis.losses() == 0);

  SUBCASE("by a redirection") {
    two.on("CLUSTER", all_slots_at(two.port()));
    one.on("EVALSHA", wire::error("MOVED " + slot + " 127.0.0.1:" + std::to_string(two.port())));
  }
  SUBCASE("by a new map of the slots") {
    one.on("CLUSTER", all_slots_at(two.port()));
    one.on("EVALSHA", wire::error("CLUSTERDOWN a failover goes on"));
  }
  two.on("EVALSHA", wire::integer(2));
  REQUIRE(f.vote(call_on("k")).good_reply() != nullptr);
  CHECK(f.redis.losses() == 1);
}

TEST_CASE("a node that serves nothing any more is forgotten, and its connection closed") {
  FakeRedis seed{FakeRedis::Transport::tcp}, old{FakeRedis::Transport::tcp};
  const auto moved_to = [](std::uint16_t port) {
    return wire::error("MOVED 1 127.0.0.1:" + std::to_string(port));
  };
  seed.on("CLUSTER", all_slots_at(old.port()));
  old.on("CLUSTER", all_slots_at(seed.port()));
  old.on("EVALSHA", wire::integer(1));
  ClusterFixture f{"redis+cluster://127.0.0.1:" + std::to_string(seed.port())};
  CHECK(f.vote(call_on("k")).good_reply() != nullptr);
  CHECK(old.open() == 1);

  seed.on("CLUSTER", all_slots_at(seed.port()));
  seed.on("EVALSHA", wire::integer(2));
  old.on("EVALSHA", moved_to(seed.port()));
  REQUIRE(turns(f.loop, [&] {
    const Vote vote = f.vote(call_on("k"));
    return vote.good_reply() != nullptr && vote.good_reply()->integer() == 2 && old.open() == 0;
  }));
  CHECK(seed.open() == 1);
}

TEST_CASE("seeds that are dead or know nothing are passed over") {
  FakeRedis ignorant{FakeRedis::Transport::tcp}, good{FakeRedis::Transport::tcp};
  ignorant.on("CLUSTER", wire::array({}));
  good.on("CLUSTER", all_slots_at(good.port()));
  good.on("EVALSHA", wire::integer(1));
  const auto host = [](std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); };
  ClusterFixture f{"redis+cluster://" + host(free_port()) + "," + host(ignorant.port()) + "," +
                   host(good.port())};
  CHECK(f.vote(call_on("k")).good_reply() != nullptr);

  const StopWatch watch;
  ClusterFixture nobody{"redis+cluster://" + host(free_port()) + "," + host(free_port()), false};
  CHECK(contains(nobody.vote(call_on("k")).failure()->text, "connection refused"));
  CHECK(watch.elapsed() < 2000ms);
}

TEST_CASE("the replica of a node that is gone is found by the next call, however seldom calls come") {
  FakeRedis seed{FakeRedis::Transport::tcp}, replica{FakeRedis::Transport::tcp};
  auto primary = std::make_unique<FakeRedis>(FakeRedis::Transport::tcp);
  seed.on("CLUSTER", all_slots_at(primary->port()));
  primary->on("EVALSHA", wire::integer(1));
  replica.on("EVALSHA", wire::integer(2));
  ClusterFixture f{"redis+cluster://127.0.0.1:" + std::to_string(seed.port())};
  REQUIRE(f.vote(call_on("k")).good_reply() != nullptr);
  primary.reset();

  // Renewals are made like this: one attempt, and the next a second later. No pause between two connections is
  // longer than that.
  const auto renewed = [&] {
    static_cast<void>(turns(f.loop, [] { return false; }, Milliseconds{1100}));
    return f.redis.run_all(call_on("k"), {}, within(Milliseconds{1000})).front().good_reply() != nullptr;
  };
  CHECK_FALSE(renewed());
  CHECK_FALSE(renewed());
  seed.on("CLUSTER", all_slots_at(replica.port()));
  CHECK(renewed());
}

TEST_CASE("a real cluster is followed: slots, moves, migrations, both kinds of announcements") {
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  ClusterServers cluster;

  SUBCASE("every key reaches its node, and our slots are the server's") {
    ClusterFixture f{cluster.url()};
    for (int i = 0; i < 30; ++i) {
      const std::string key = (i % 3 == 0 ? "{tag" + std::to_string(i) + "}:" : "") + to_hex(random_bytes(8));
      CHECK(f.vote(call_on(key)).good_reply() != nullptr);
      CHECK(cluster.owner_of(key).cli({"GET", key}) == "1");
      CHECK(cluster.node(0).cli({"CLUSTER", "KEYSLOT", key}) == std::to_string(slot_of(key)));
    }
    CHECK(wake_ups(f.loop, Milliseconds{100}) <= 4);
  }

  SUBCASE("a slot that has moved is followed") {
    ClusterFixture f{cluster.url()};
    REQUIRE(f.vote(call_on("foo")).good_reply() != nullptr);  // slot 12182, node 2
    cluster.node(2).cli({"DEL", "foo"});
    cluster.move(slot_of("foo"), 2, 0);
    REQUIRE(f.vote(call_on("foo")).good_reply() != nullptr);
    CHECK(cluster.node(0).cli({"GET", "foo"}) == "1");
  }

  SUBCASE("a call for a key that has already moved to the new node of its slot is sent there") {
    ClusterFixture f{cluster.url()};
    const std::string slot = std::to_string(slot_of("foo"));
    cluster.node(0).cli({"CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.id(2)});
    cluster.node(2).cli({"CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.id(0)});
    REQUIRE(f.vote(call_on("foo")).good_reply() != nullptr);
    CHECK(f.vote(call_on("foo")).reply()->integer() == 2);
  }

  SUBCASE("announcements of both kinds are heard, also after their slot has moved") {
    ClusterFixture f{cluster.url()};
    const std::string channel = "wake:{foo}";
    REQUIRE(f.vote(call_on("foo")).good_reply() != nullptr);
    f.redis.watch(Channel{channel});
    REQUIRE(turns(f.loop, [&] { return f.redis.wakeups() == 2; }, kLong));
    cluster.node(2).cli({"SPUBLISH", channel, "0"});
    REQUIRE(turns(f.loop, [&] { return f.redis.wakeups() == 3; }, kLong));
    const auto heard_from_afar = [&] {  // the nodes may not all be connected to each other yet
      cluster.node(1).cli({"PUBLISH", channel, "0"});
      return f.redis.wakeups() > 3;
    };
    REQUIRE(turns(f.loop, heard_from_afar, kLong));

    cluster.node(2).cli({"DEL", "foo"});
    cluster.move(slot_of("foo"), 2, 1);
    REQUIRE(turns(
        f.loop, [&] { return cluster.node(1).cli({"PUBSUB", "SHARDNUMSUB", channel}).ends_with("\n1"); },
        kLong));
    const auto before = f.redis.wakeups();
    const auto heard_there = [&] {
      cluster.node(1).cli({"SPUBLISH", channel, "0"});
      return f.redis.wakeups() > before;
    };
    CHECK(turns(f.loop, heard_there, kLong));
  }
}
