// The cost of a wait line on the server does not grow with the number of holders or waiters.

#include <doctest/doctest.h>

#include <string>

#include "base/text.h"
#include "support/permit_scene.h"
#include "support/usual_names.h"
#include "sync/kinds/lock.h"
#include "sync/kinds/read_write.h"
#include "sync/records/metadata.h"
#include "sync/watch/glance.h"

using namespace rlock;
using namespace rlock::test;

namespace {

Metadata facts_from(const std::string& host) {
  Metadata facts;
  facts.host = host;
  return facts;
}

Claim claim_of(const LockName& name, const std::string& owner) {
  return {.name = name, .owner = Owner{owner}, .lease = Milliseconds{30000}};
}

struct Glanced : Permitted {
  void take(const Lockable& lock, const std::string& host) {
    REQUIRE(is_held(ask(lock)));
    redis.run(
        write_metadata(lock.name(), lock.owner(), lock.hold_entry(), Milliseconds{30000}, facts_from(host)));
  }
  /// Adds the waiters w:1 to w:COUNT to a line.
  void queue(const LockName& name, int count) {
    const std::string line = "redisson_unlock_latch:{" + name.str() + "}:line";
    for (int i = 1; i <= count; ++i) server.cli({"ZADD", line, std::to_string(i), "w:" + std::to_string(i)});
  }
  Inspection glance(const LockName& name, const std::string& asker) {
    return read_glance(name, redis.run(glance_at(name, Owner{asker})));
  }
  /// The number of commands that the server carries out for one glance.
  std::int64_t commands(const LockName& name) {
    server.cli({"CONFIG", "RESETSTAT"});
    redis.run(glance_at(name, Owner{"w:7"}));
    std::int64_t sum = 0;
    for (const std::string& line : split(server.cli({"INFO", "commandstats"}), '\n'))
      if (const std::size_t at = line.find(":calls="); at != std::string::npos)
        sum += std::stoll(line.substr(at + 7));
    return sum;
  }
};

}  // namespace

TEST_CASE("a glance shows the holder's facts, and the place of the asking waiter") {
  Glanced scene;
  scene.take(Lock{claim_of(kName, "a:1")}, "web3");
  scene.queue(kName, 3);
  const Inspection seen = scene.glance(kName, "w:2");
  REQUIRE(seen.holders.size() == 1);
  CHECK(seen.holders.front().owner == Owner{"a:1"});
  CHECK(seen.holders.front().facts->host == "web3");
  CHECK(seen.state == Inspection::State::held);
  CHECK(seen.ttl > Milliseconds{0});
  CHECK(seen.unnamed == 0);
  REQUIRE(seen.place);
  CHECK(seen.place->position == 2);
  CHECK(seen.place->length == 3);
  CHECK_FALSE(scene.glance(kName, "stranger").place);
  CHECK(scene.glance(LockName{"free"}, "w:2").absent());
  scene.server.cli({"RPUSH", "list", "x"});
  CHECK(scene.glance(LockName{"list"}, "w:2").foreign == "list");
}

TEST_CASE("a glance at a pool counts the available permits, and those whose lease has ended") {
  Glanced scene;
  CHECK_FALSE(scene.glance(kName, "").available);
  CHECK(scene.glance(kName, "").state == Inspection::State::free);
  scene.server.cli({"SET", "deploy", "-2"});
  CHECK(scene.glance(kName, "").available == -2);
  CHECK(scene.glance(kName, "").kind == &kinds::semaphore);
  scene.server.cli({"SET", "deploy", "2"});
  scene.server.cli(
      {"ZADD", "{deploy}:timeout", "1", "0123456789abcdef", "99999999999999", "abcdef0123456789"});
  const Inspection seen = scene.glance(kName, "");
  CHECK(seen.available == 3);
  CHECK(seen.holders.size() + static_cast<std::size_t>(seen.unnamed) == 1);
}

TEST_CASE("a glance names three of many readers, and counts the others") {
  Glanced scene;
  for (int i = 0; i < 9; ++i) scene.take(ReadLock{claim_of(kName, "a:" + std::to_string(i))}, "web3");
  const Inspection seen = scene.glance(kName, "");
  CHECK(seen.kind == &kinds::read_write);
  CHECK(seen.holders.size() == 3);
  CHECK(seen.unnamed == 6);
}

TEST_CASE("a glance names owners of permits, once each, and Redisson's by their ids") {
  Glanced scene;
  scene.pool_of(9);
  scene.take(permits("a:1", {.count = 3}), "web3");
  scene.take(permits("b:1"), "web4");
  scene.server.cli({"ZADD", "{pool}:timeout", "922337203685477", "0123456789abcdef"});
  const Inspection seen = scene.glance(kPool, "");
  CHECK(seen.kind == &kinds::permit);
  REQUIRE(seen.holders.size() == 3);
  CHECK(seen.holders[0].facts);
  CHECK(seen.holders[1].facts);
  CHECK(seen.holders[0].slot);
  CHECK_FALSE(seen.holders[2].slot);
  CHECK(seen.holders[2].permit == "0123456789abcdef");
  CHECK_FALSE(seen.holders[2].ttl);
  CHECK(seen.unnamed == 0);
}

TEST_CASE("a glance costs as much at a thousand waiters and holders as at ten") {
  Glanced scene;
  scene.pool_of(2000);
  scene.take(Lock{claim_of(kName, "a:1")}, "web3");
  const LockName read{"read"};
  for (int i = 0; i < 10; ++i) {
    scene.take(ReadLock{claim_of(read, "a:" + std::to_string(i))}, "web3");
    scene.take(permits("a:" + std::to_string(i)), "web3");
  }
  const std::vector<LockName> names{kName, read, kPool};
  for (const LockName& name : names) scene.queue(name, 10);
  std::vector<std::int64_t> before;
  for (const LockName& name : names) before.push_back(scene.commands(name));
  for (int i = 10; i < 300; ++i) {
    scene.ask(ReadLock{claim_of(read, "a:" + std::to_string(i))});
    scene.take(permits("a:" + std::to_string(i)), "web3");
  }
  for (const LockName& name : names) scene.queue(name, 300);
  for (std::size_t i = 0; i < names.size(); ++i) {
    CAPTURE(names[i].str());
    CHECK(before[i] <= 60);
    CHECK(scene.commands(names[i]) <= before[i] + 20);
  }
}
