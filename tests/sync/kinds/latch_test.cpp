#include "sync/kinds/latch.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/text.h"
#include "support/eventually.h"
#include "support/scene.h"

using namespace rlock;
using namespace rlock::test;
using CounterHow = CounterAnswer::How;

namespace {

const LockName kGate{"gate"};
const Channel kGateChannel{"redisson_countdownlatch__channel__{gate}"};

struct Gate : Scene {
  CounterAnswer set(std::int64_t total, Milliseconds expire = Milliseconds{0}) {
    const Latch latch{kGate, PubSub::classic};
    const Reply reply = redis.run(latch.set(total, expire));
    redis.run(latch.write_set(total));
    return latch.read(reply);
  }
  CounterAnswer down(std::int64_t count = 1) {
    const Latch latch{kGate, PubSub::classic};
    const Reply reply = redis.run(latch.down(count));
    redis.run(latch.write_down());
    return latch.read_down(reply);
  }
  CounterAnswer remove() {
    const Latch latch{kGate, PubSub::classic};
    const Reply reply = redis.run(latch.remove());
    redis.run(latch.erase_record());
    return latch.read(reply);
  }
  CounterAnswer status() {
    const Latch latch{kGate, PubSub::classic};
    return latch.read(redis.run(latch.status()));
  }
  std::optional<LatchRecord> record() {
    const Latch latch{kGate, PubSub::classic};
    return latch.read_record(redis.run(latch.record()));
  }
  AcquireAnswer wait(LatchWait::Until until) { return ask(LatchWait{{.name = kGate}, until}); }
};

}  // namespace

TEST_CASE("a latch is a number that is counted down, deleted at zero, and announced as Redisson does") {
  Gate gate;
  Listener waiter{gate.server, kGateChannel};
  CHECK(gate.set(2).how == CounterHow::done);
  CHECK(waiter.heard() == "1");
  CHECK(gate.server.cli({"GET", "gate"}) == "2");
  CHECK(gate.down().count == 1);
  CHECK(waiter.silence());
  CHECK(gate.down().count == 0);
  CHECK(waiter.heard() == "0");
  CHECK_FALSE(gate.server.has("gate"));
}

TEST_CASE("the channel of a latch gets braces of its own, also when the name brings some") {
  CHECK(LatchWait{{.name = LockName{"{team}:gate"}}, LatchWait::Until::open}.channels() ==
        std::vector{Channel{"redisson_countdownlatch__channel__{{team}:gate}"}});
}

TEST_CASE("counting down below zero opens the latch, with the message that Java waits for") {
  Gate gate;
  gate.set(2);
  Listener waiter{gate.server, kGateChannel};
  CHECK(gate.down(5).count == 0);
  CHECK(waiter.heard() == "0");
  CHECK_FALSE(gate.server.has("gate"));
}

TEST_CASE("a latch that is set is not set again") {
  Gate gate;
  gate.set(2);
  CHECK(gate.set(5).how == CounterHow::exists);
  CHECK(gate.set(5).count == 2);
}

TEST_CASE("counting down a missing latch creates nothing") {
  Gate gate;
  CHECK(gate.down().how == CounterHow::absent);
  CHECK(gate.remove().how == CounterHow::absent);
  CHECK(gate.status().how == CounterHow::absent);
  CHECK(gate.all().empty());
}

TEST_CASE("each request on a latch is done once, also when it is sent twice") {
  Gate gate;
  const Latch set{kGate, PubSub::classic};
  const auto [set_once, set_again] = gate.redis.twice(set.set(3, Milliseconds{0}));
  CHECK(written(set_once) == written(set_again));
  const Latch down{kGate, PubSub::classic};
  const auto [down_once, down_again] = gate.redis.twice(down.down(1));
  CHECK(down.read_down(down_once).count == 2);
  CHECK(down.read_down(down_again).count == 2);
  CHECK(gate.server.cli({"GET", "gate"}) == "2");
  const Latch last{kGate, PubSub::classic};
  gate.redis.twice(last.down(2));
  gate.set(4);
  CHECK(last.read_down(gate.redis.run(last.down(2))).count == 0);
  CHECK(gate.server.cli({"GET", "gate"}) == "4");
  const Latch removal{kGate, PubSub::classic};
  const auto [removed, removed_again] = gate.redis.twice(removal.remove());
  CHECK(written(removed) == written(removed_again));
}

TEST_CASE("a late copy of a request does not write over what others have done with the latch since") {
  Gate gate;
  const Latch set{kGate, PubSub::classic};
  const auto send_set = [&] {
    gate.redis.run(set.set(1, Milliseconds{0}));
    gate.redis.run(set.write_set(1));
  };
  send_set();
  gate.down();
  send_set();
  CHECK(gate.record()->opened);
  CHECK(gate.status().how == CounterHow::absent);

  gate.set(1);
  const Latch down{kGate, PubSub::classic};
  const auto send_down = [&] {
    CHECK(down.read_down(gate.redis.run(down.down(1))).count == 0);
    gate.redis.run(down.write_down());
  };
  send_down();
  gate.set(2, Milliseconds{60000});
  send_down();
  CHECK(gate.record()->total == 2);
  CHECK_FALSE(gate.record()->opened);
  gate.server.cli({"DEL", "gate"});  // it expires
  send_down();
  CHECK_FALSE(gate.record()->opened);
}

TEST_CASE(
    "if a note was lost and comes only with the copy, it is written unless another request came in between") {
  Gate gate;
  gate.set(1);
  const Latch down{kGate, PubSub::classic};
  gate.redis.run(down.down(1));
  gate.redis.run(down.write_down());
  CHECK(gate.record()->opened);
  gate.set(1);
  const Latch last{kGate, PubSub::classic};
  gate.redis.run(last.down(1));
  gate.set(5);
  gate.redis.run(last.write_down());
  CHECK_FALSE(gate.record()->opened);
}

TEST_CASE("a record tells an opened latch from one that was never set") {
  Gate gate;
  CHECK_FALSE(gate.record());
  gate.set(2);
  CHECK(gate.record()->total == 2);
  CHECK(gate.record()->set->time_since_epoch().count() > 1600000000000);
  CHECK_FALSE(gate.record()->opened);
  gate.down();
  CHECK_FALSE(gate.record()->opened);
  gate.down();
  CHECK(*gate.record()->opened >= *gate.record()->set);
  CHECK(gate.record()->total == 2);
  CHECK(gate.server.pttl("rlock:meta:{gate}") > 23 * 3600 * 1000);
}

TEST_CASE("a latch that another client has set is recorded when we open it, and only then") {
  Gate gate;
  gate.server.cli({"SET", "gate", "2"});
  gate.down();
  CHECK_FALSE(gate.record());
  gate.down();
  CHECK(gate.record()->opened);
  CHECK_FALSE(gate.record()->total);
  CHECK_FALSE(gate.record()->set);
}

TEST_CASE("setting a latch anew closes its record, deleting it forgets it") {
  Gate gate;
  gate.set(1);
  gate.down();
  gate.set(3);
  CHECK_FALSE(gate.record()->opened);
  CHECK(gate.remove().how == CounterHow::done);
  CHECK_FALSE(gate.record());
}

TEST_CASE("a down that opens nothing writes no record, however often it is sent") {
  Gate gate;
  const Latch down{kGate, PubSub::classic};
  gate.redis.twice(down.down(1));
  CHECK(gate.all().empty());
}

TEST_CASE("a latch is awaited until it is set, and then until it is open; one that is gone is open") {
  Gate gate;
  CHECK(is_held(gate.wait(LatchWait::Until::open)));
  CHECK(is_busy(gate.wait(LatchWait::Until::set)));
  gate.set(1);
  CHECK(is_busy(gate.wait(LatchWait::Until::open)));
  CHECK(is_held(gate.wait(LatchWait::Until::set)));
  gate.down();
  CHECK(is_held(gate.wait(LatchWait::Until::open)));
  CHECK(is_held(gate.wait(LatchWait::Until::set)));
}

TEST_CASE("a latch that was set to zero is open") {
  Gate gate;
  gate.server.cli({"SET", "gate", "0"});
  CHECK(is_held(gate.wait(LatchWait::Until::open)));
  CHECK(is_held(gate.wait(LatchWait::Until::set)));
}

TEST_CASE("a latch that expires is asked about again when it does") {
  Gate gate;
  gate.set(1, Milliseconds{60000});
  CHECK(gate.server.pttl("gate") > 50000);
  CHECK(std::get<Busy>(gate.wait(LatchWait::Until::open)).retry_after > Milliseconds{50000});
}

TEST_CASE("without rights for rlock's own keys a user can still count down") {
  Gate gate;
  gate.redis.run(command({"ACL", "SETUSER", "java", "on", "nopass", "~gate", "~redisson_*", "&*", "+@all"}));
  gate.redis.run(command({"AUTH", "java", "x"}));
  CHECK(gate.set(1).how == CounterHow::done);
  CHECK_FALSE(gate.record());
  CHECK(gate.down().count == 0);
  CHECK(is_held(gate.wait(LatchWait::Until::open)));
}

TEST_CASE("a key that is no latch is refused and left unchanged") {
  const Words others[] = {
      {"SET", "gate", "token"},   {"RPUSH", "gate", "a"},       {"SADD", "gate", "a"},
      {"ZADD", "gate", "1", "a"}, {"HSET", "gate", "a:1", "1"}, {"HSET", "gate", "mode", "read", "a:1", "1"},
  };
  Gate gate;
  for (const Words& other : others) {
    CAPTURE(joined(other, " "));
    gate.server.del("gate");
    gate.server.cli(other);
    const std::string before = gate.all();

    CHECK(gate.set(1).how == CounterHow::refused);
    CHECK(gate.down().how == CounterHow::refused);
    CHECK(gate.remove().how == CounterHow::refused);
    CHECK(gate.status().how == CounterHow::refused);
    CHECK(is_refused(gate.wait(LatchWait::Until::open)));
    CHECK(is_refused(gate.wait(LatchWait::Until::set)));
    CHECK(gate.all() == before);
  }
}

TEST_CASE("hostile records are read without harm") {
  const Latch latch{kGate, PubSub::classic};
  for (const char* text : {"", "{}", "\"opened\":x", "\xff"})
    CHECK_FALSE(latch.read_record(Reply{std::string{text}}));
  for (const char* record :
       {"{\"total\":", "{\"total\":-1}", "{\"total\":x,\"opened\":99999999999999999999}"}) {
    const auto read = latch.read_record(Reply{std::string{record}});
    REQUIRE(read);
    CHECK_FALSE(read->total);
    CHECK_FALSE(read->opened);
  }
  CHECK_FALSE(latch.read_record(Reply{}));
  CHECK_FALSE(latch.read_record(Reply::error("NOPERM")));
}

TEST_CASE("an unknown word is no answer to a call about a latch") {
  const Latch latch{kGate, PubSub::classic};
  const Reply unknown{std::vector{Reply{"hm"}}};
  CHECK_THROWS_AS(latch.read(unknown), Error);
}

TEST_CASE("an answer without the count does not mean that the latch is open") {
  const Latch latch{kGate, PubSub::classic};
  CHECK_THROWS_AS(latch.read_down(Reply{std::vector{Reply{"done"}}}), Error);
  CHECK_THROWS_AS(latch.read_down(Reply{std::vector{Reply{"done"}, Reply{""}}}), Error);
  CHECK_THROWS_AS(latch.read(Reply{std::vector{Reply{"found"}}}), Error);
}
