// What a line of `rlock list` says about a key: pure, without a server.

#include "cmd/view/key_row.h"

#include <doctest/doctest.h>

#include "cmd/view/key_table.h"
#include "cmd/view/table.h"
#include "support/contains.h"

using namespace rlock;
using namespace rlock::test;

namespace {

constexpr ServerTime kNow{Milliseconds{1'800'000'000'000}};

Holder alice_since(Milliseconds since = Milliseconds{723'000}, Milliseconds renewed = Milliseconds{4'000}) {
  Metadata facts{.host = "ci-7", .user = "alice", .command = "make", .pid = 4121};
  facts.reason = "hotfix 42";
  facts.since = kNow - since;
  facts.renewed = kNow - renewed;
  facts.lease = Milliseconds{30'000};
  Holder holder;
  holder.owner = Owner{"6f3a0000-1111-8222-9333-444455556666:1"};
  holder.ttl = Milliseconds{26'000};
  holder.facts = facts;
  return holder;
}

Holder java() {
  Holder holder;
  holder.owner = Owner{"8d1f2c3a-1111-4222-8333-444455556666:57"};
  holder.ttl = Milliseconds{21'000};
  return holder;
}

Inspection inspected(const std::string& key, std::vector<Holder> holders) {
  Inspection seen;
  seen.name = LockName{key};
  seen.kind = &kinds::lock;
  seen.state = Inspection::State::held;
  seen.ttl = holders.front().ttl;
  seen.holders = std::move(holders);
  seen.now = kNow;
  return seen;
}

std::vector<std::string> keys_of(const std::vector<Inspection>& all) {
  std::vector<std::string> keys;
  for (const Inspection& seen : all) keys.push_back(seen.name.str());
  return keys;
}

}  // namespace

TEST_CASE("a line shows the holder, the age, the time until the key is free, the waiters and the reason") {
  Inspection seen = inspected("deploy", {alice_since()});
  seen.waiters.resize(4);
  const KeyRow row = key_row(seen);
  CHECK(row.key == "deploy");
  CHECK(row.type == "lock");
  CHECK(row.state == "held");
  CHECK(row.holder == "alice@ci-7 (make)");
  CHECK(row.held_for == "12m03s");
  CHECK(row.frees == "26s");
  CHECK(row.waiting == "4");
  CHECK(row.reason == "hotfix 42");
}

TEST_CASE("a line leaves out unknown facts") {
  const KeyRow row = key_row(inspected("orders", {java()}));
  CHECK(row.holder == "8d1f2c...:57 (a Redisson client)");
  CHECK(row.held_for == "-");
  CHECK(row.reason == "-");
}

TEST_CASE("of several holders a line shows the first, and of counted keys the free number") {
  Inspection pool = inspected("seats", {alice_since(), java(), java()});
  pool.kind = &kinds::permit;
  pool.available = 2;
  pool.total = 5;
  CHECK(key_row(pool).holder == "alice@ci-7 (make) and 2 more");
  CHECK(key_row(pool).available == "2/5");
  pool.available = -1;  // the pool was made smaller while its permits were taken
  pool.total = 1;
  CHECK(key_row(pool).available == "0/1");
  Inspection semaphore;
  semaphore.available = 2;
  CHECK(key_row(semaphore).holder == "-");
  CHECK(key_row(semaphore).available == "2");
  CHECK(key_row(semaphore).frees == "-");
}

TEST_CASE("a key is stale if its holder has not renewed for half its lease, or if it has no TTL") {
  CHECK(key_state(inspected("k", {alice_since()})) == "held");
  CHECK(key_state(inspected("k", {alice_since(Milliseconds{60'000}, Milliseconds{15'001})})) == "stale");
  CHECK(key_state(inspected("k", {java()})) == "held");
  Holder for_ever = java();
  for_ever.ttl.reset();
  CHECK(key_state(inspected("k", {for_ever})) == "stale");
  CHECK(key_row(inspected("k", {for_ever})).frees == "never");
}

TEST_CASE("a filter passes the keys that match all its conditions") {
  const Inspection seen = inspected("deploy", {alice_since()});
  CHECK(passes({}, seen));
  CHECK(passes({.states = {"stale", "held"}, .types = {"lock"}, .hosts = {"ci-7"}}, seen));
  CHECK_FALSE(passes({.states = {"stale"}}, seen));
  CHECK_FALSE(passes({.types = {"fair"}}, seen));
  CHECK_FALSE(passes({.hosts = {"ci"}}, seen));
  CHECK(passes({.older = Milliseconds{723'000}}, seen));
  CHECK_FALSE(passes({.older = Milliseconds{723'001}}, seen));
  CHECK_FALSE(passes({.older = Milliseconds{1}}, inspected("orders", {java()})));
}

TEST_CASE("lines are sorted by key, or keys that need attention come first") {
  Inspection b = inspected("b", {alice_since(Milliseconds{10})});
  b.waiters.resize(2);
  std::vector<Inspection> all{inspected("c", {alice_since(Milliseconds{99})}), b, inspected("a", {java()})};
  sort_keys(all, KeyOrder::age);
  CHECK(keys_of(all) == std::vector<std::string>{"c", "b", "a"});
  sort_keys(all, KeyOrder::waiting);
  CHECK(keys_of(all) == std::vector<std::string>{"b", "a", "c"});
  sort_keys(all, KeyOrder::key);
  CHECK(keys_of(all) == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("numbers in keys are sorted as numbers") {
  std::vector<Inspection> all;
  for (const char* key : {"job-10", "job-2b", "job", "job-2", "job-02", "job-9", "job-2-11", "job-2-3"})
    all.push_back(inspected(key, {java()}));
  sort_keys(all, KeyOrder::key);
  CHECK(keys_of(all) == std::vector<std::string>{"job", "job-02", "job-2", "job-2-3", "job-2-11", "job-2b",
                                                 "job-9", "job-10"});
}

TEST_CASE("one long key widens its own line only, on a wide terminal too") {
  std::vector<Inspection> all{inspected(std::string(150, 'k'), {alice_since()})};
  for (int i = 0; i < 20; ++i) all.push_back(inspected("key-" + std::to_string(i), {alice_since()}));
  for (const std::size_t width : {0U, 160U, 240U}) {
    CAPTURE(width);
    const std::vector<std::string> lines = key_table(all, width);
    CHECK(columns_of(lines.back()) <= 116);
    CHECK(lines[1].find(std::string(width == 160 ? 60 : 150, 'k')) == 0);
    if (width > 0) CHECK(columns_of(lines[1]) <= width);
  }
}

TEST_CASE("patterns are those of Redis") {
  for (const char* pattern :
       {"orders:*", "orders:?", "*", "order[rs]:1", "orders:1", "orders:[^2]", "orders\\:1"})
    CHECK_MESSAGE(matches_any({pattern}, "orders:1"), pattern);
  for (const char* pattern : {"orders", "orders:", "orders:[2-3]", "orders:[^1]", "?"})
    CHECK_FALSE_MESSAGE(matches_any({pattern}, "orders:1"), pattern);
  CHECK(matches_any({}, "orders:1"));
  CHECK(matches_any({"x", "orders:*"}, "orders:a/b"));
}

TEST_CASE("no text of Redis reaches the terminal as it is") {
  Holder hostile = alice_since();
  hostile.facts->host = "h\x1b[2J";
  hostile.facts->reason = "r\r\n\xc2\x9bx";
  Inspection seen = inspected("k\x1b]0;x\x07", {hostile});
  for (const std::string& line : key_table({seen}, 0)) {
    CAPTURE(line);
    CHECK(line.find_first_of("\x1b\r\n\x07") == std::string::npos);
    CHECK_FALSE(contains(line, "\xc2\x9b"));
  }
}

TEST_CASE("a table is as wide as the terminal at most: the widest of the long columns is cut") {
  Inspection seen = inspected(std::string(60, 'k'), {alice_since()});
  for (const std::size_t width : {200U, 120U, 80U, 72U, 40U, 5U}) {
    CAPTURE(width);
    for (const std::string& line : key_table({seen}, width)) CHECK(columns_of(line) <= width);
  }
  const std::vector<std::string> whole = key_table({seen}, 0);
  CHECK(whole[1].find(std::string(60, 'k') + "  lock  held") == 0);
  CHECK(whole[1].ends_with("hotfix 42"));
  CHECK(fitted({60, 4, 20}, {true, false, true}, 50) == std::vector<std::size_t>{22, 4, 20});
}

TEST_CASE("wide characters take two columns, and combining characters take none") {
  CHECK(columns_of("deploy") == 6);
  CHECK(columns_of("e\xcc\x81") == 1);
  CHECK(columns_of("\xe6\x97\xa5\xe6\x9c\xac") == 4);
  CHECK(cut_to("\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5", 5) == "\xe6\x97\xa5...");
  CHECK(padded_to("\xe6\x97\xa5", 4) == "\xe6\x97\xa5  ");
  CHECK(cut_to("deploy", 3) == "dep");
}
