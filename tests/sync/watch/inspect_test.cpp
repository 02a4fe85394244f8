// What the reply of inspect/key and the facts beside the key amount to. No server is needed for that.

#include "sync/watch/inspect.h"

#include <doctest/doctest.h>

#include <limits>

#include "base/error.h"
#include "base/owner_id.h"
#include "base/text.h"
#include "support/usual_names.h"

using namespace rlock;
using namespace rlock::test;
using State = Inspection::State;
using Texts = std::vector<std::string>;

namespace {

constexpr ServerTime kServerTime{Milliseconds{1000}};

Reply list(const Texts& texts) {
  std::vector<Reply> items;
  for (const std::string& text : texts) items.emplace_back(text);
  return Reply{std::move(items)};
}

/// What the script found, by the names of its contract.
struct Found {
  std::string kind = "lock";
  std::int64_t pttl = 30000;
  Texts content{};
  Texts queue{}, deadlines{};
  std::optional<std::string> token{};
  Texts taken{}, owners{}, line{};
  std::int64_t leases = 0;
  std::vector<std::int64_t> rests{};
};

Inspection read_found(const Found& found, const KnownFacts& known = {}) {
  const std::vector<Reply> items{Reply{kServerTime.time_since_epoch().count()},
                                 Reply{found.kind},
                                 Reply{found.pttl},
                                 list(found.content),
                                 list(found.queue),
                                 list(found.deadlines),
                                 found.token ? Reply{*found.token} : list({}),
                                 list(found.taken),
                                 list(found.owners),
                                 list(found.line),
                                 Reply{found.leases},
                                 Reply{0},
                                 Reply{std::vector<Reply>{found.rests.begin(), found.rests.end()}}};
  return read_inspection(kName, known, Reply{items});
}

Metadata of_type(const std::string& type) {
  Metadata facts;
  facts.type = type;
  return facts;
}

/// A command has ended, and an option keeps the key for so long after it.
Metadata ended_facts(Milliseconds keeps = Milliseconds{5000}) {
  Metadata facts;
  facts.renewed = ServerTime{Milliseconds{900}};
  facts.ended_at = facts.renewed;
  facts.lease = keeps;
  return facts;
}

/// The id of a permit of rlock with this slot.
std::string id_with_slot(char slot) { return std::string{"rk\0", 3} + slot + "0123456789ab"; }

const std::string kTheirs = "0123456789abcdef";  // the id of another client's permit

}  // namespace

TEST_CASE("an inspection names the key, and says of which type a foreign key is and how long it stays") {
  const Inspection seen = read_found({.kind = "list", .pttl = 5000});
  CHECK(seen.name == kName);
  CHECK(seen.now == kServerTime);
  CHECK(seen.ttl == Milliseconds{5000});
  CHECK(seen.kind == nullptr);
  CHECK(seen.foreign == "list");
  CHECK(seen.state == State::held);
  CHECK_FALSE(read_found({.kind = "list", .pttl = -1}).ttl);
}

TEST_CASE("a key that is not there is free, and its fencing token still tells that it was a fenced lock") {
  const Inspection free = read_found({.kind = "none", .pttl = -2});
  CHECK(free.absent());
  CHECK(free.state == State::free);
  CHECK_FALSE(free.ttl);
  const Inspection fenced = read_found({.kind = "none", .pttl = -2, .token = "7"});
  CHECK(fenced.kind == &kinds::fenced);
  CHECK(fenced.state == State::free);
  CHECK(fenced.fence == 7);
}

TEST_CASE("a latch that was opened is told by its record, even if a fencing token has the same name") {
  const Inspection seen =
      read_found({.kind = "none", .pttl = -2, .token = "7"}, {.latch = true, .opened = true});
  CHECK(seen.kind == &kinds::latch);
  CHECK(seen.state == State::open);
  CHECK(seen.count == 0);
}

TEST_CASE("a lock names its holders, each with the number of its holds, the lease and the fence") {
  const Inspection seen = read_found({.content = {"me:1", "2"}, .token = "7"});
  CHECK(seen.kind == &kinds::fenced);
  CHECK(seen.state == State::held);
  REQUIRE(seen.holders.size() == 1);
  CHECK(seen.holders.front().owner == Owner{"me:1"});
  CHECK(seen.holders.front().count == 2);
  CHECK(seen.holders.front().ttl == Milliseconds{30000});
  CHECK(seen.holders.front().fence == 7);
  CHECK_FALSE(seen.holders.front().facts);
  CHECK_FALSE(read_found({.content = {"me:1", "2"}}).holders.front().fence);
}

TEST_CASE("a lock is only kept if the commands of all its holders have ended") {
  const Found readers{.kind = "read-write", .content = {"mode", "read", "a:1", "1", "b:1", "1"}};
  CHECK(read_found(readers).state == State::held);
  CHECK(read_found(readers, {.facts = {{Owner{"a:1"}, ended_facts()}, {Owner{"b:1"}, Metadata{}}}}).state ==
        State::held);
  CHECK(
      read_found(readers, {.facts = {{Owner{"a:1"}, ended_facts()}, {Owner{"b:1"}, ended_facts()}}}).state ==
      State::kept);
  CHECK(read_found({.kind = "read-write", .content = {"mode", "read"}}).state == State::held);
  // The time is over, and the key is still there: a hold inside that of the ended command has it.
  const Inspection inside = read_found({.kind = "lock", .content = {"a:1", "1"}},
                                       {.facts = {{Owner{"a:1"}, ended_facts(Milliseconds{50})}}});
  CHECK(inside.state == State::held);
  CHECK_FALSE(inside.holders.front().facts);
}

TEST_CASE("a read/write lock names its readers and its writers") {
  const Inspection seen =
      read_found({.kind = "read-write", .content = {"mode", "write", "a:1", "2", "a:1:write", "1"}});
  CHECK(seen.kind == &kinds::read_write);
  REQUIRE(seen.holders.size() == 2);
  CHECK(seen.holders[0].owner == Owner{"a:1"});
  CHECK(seen.holders[0].mode == Holder::Mode::read);
  CHECK(seen.holders[0].count == 2);
  CHECK(seen.holders[1].owner == Owner{"a:1"});
  CHECK(seen.holders[1].mode == Holder::Mode::write);
}

TEST_CASE("a reader's lease may end before the key, and if it is not known, the reader has that of the key") {
  const Texts content{"mode", "read", "a:1", "1", "b:1", "1", "c:1", "1", "d:1", "1", "c:1:write", "1"};
  const auto rests = [&](std::int64_t pttl) {
    std::vector<std::optional<std::int64_t>> all;
    const Found found{
        .kind = "read-write", .pttl = pttl, .content = content, .rests = {-1, 500, 60000, -2, -1, 0}};
    for (const Holder& holder : read_found(found).holders)
      all.push_back(holder.ttl ? std::optional{holder.ttl->count()} : std::nullopt);
    return all;
  };
  CHECK(rests(30000) == std::vector<std::optional<std::int64_t>>{500, 30000, 0, 30000, 30000});
  CHECK(rests(-1) == std::vector<std::optional<std::int64_t>>(5));
}

TEST_CASE("the owner of a plain lock is its token, which holds once") {
  const Inspection seen = read_found({.kind = "string", .content = {"token"}});
  CHECK(seen.kind == &kinds::plain);
  REQUIRE(seen.holders.size() == 1);
  CHECK(seen.holders.front().owner == Owner{"token"});
  CHECK(seen.holders.front().mode == Holder::Mode::exclusive);
  CHECK(seen.holders.front().count == 1);
}

TEST_CASE("the facts of its holder tell a fair lock without waiters from any other") {
  const auto kind_of = [](const std::string& type, std::optional<std::string> token = {}) {
    const Found found{.content = {"me:1", "1"}, .token = std::move(token)};
    return read_found(found, {.facts = {{Owner{"me:1"}, of_type(type)}}}).kind;
  };
  CHECK(kind_of("fair") == &kinds::fair);
  CHECK(kind_of("lock") == &kinds::lock);
  CHECK(kind_of("fair", "7") == &kinds::fenced);
  CHECK(read_found({.content = {"me:1", "1"}}).kind == &kinds::lock);
}

TEST_CASE("a number with nothing beside it is a semaphore, which is open while it has permits") {
  const auto semaphore = [](const std::string& number) {
    return read_found({.kind = "number", .content = {number}});
  };
  CHECK(semaphore("2").kind == &kinds::semaphore);
  CHECK(semaphore("2").available == 2);
  CHECK(semaphore("2").state == State::open);
  CHECK_FALSE(semaphore("2").count);
  CHECK_FALSE(semaphore("2").total);
  CHECK(semaphore("0").state == State::closed);
  CHECK(semaphore("-1").state == State::closed);
  CHECK(semaphore("99999999999999999999").available == 0);
}

TEST_CASE("a number with the record of a latch is a latch, which is closed until it has counted to zero") {
  const auto latch = [](const std::string& number) {
    return read_found({.kind = "number", .content = {number}, .taken = {kTheirs, "2000"}}, {.latch = true});
  };
  CHECK(latch("2").kind == &kinds::latch);
  CHECK(latch("2").count == 2);
  CHECK(latch("2").state == State::closed);
  CHECK(latch("0").state == State::open);
  CHECK_FALSE(latch("2").available);
}

TEST_CASE("taken permits beside a number make it a pool, and each names its owner, its lease and its slot") {
  const KnownFacts known{.facts = {{Owner{"me:1"}, of_type("permit")}}};
  const Inspection seen =
      read_found({.kind = "number",
                  .content = {"3"},
                  .taken = {kTheirs, "1500", id_with_slot(4), "2000.5", id_with_slot(2), "3000"},
                  .owners = {"", "me:1", "you:1"},
                  .leases = 5},
                 known);
  CHECK(seen.kind == &kinds::permit);
  CHECK(seen.state == State::held);
  CHECK(seen.available == 3);
  CHECK(seen.unnamed == 2);
  CHECK(seen.total == 8);
  REQUIRE(seen.holders.size() == 3);
  const Holder &first = seen.holders[0], &second = seen.holders[1], &third = seen.holders[2];
  CHECK(first.slot == 2);
  CHECK(first.owner == Owner{"you:1"});
  CHECK(first.ttl == Milliseconds{2000});
  CHECK_FALSE(first.facts);
  CHECK(second.slot == 4);
  CHECK(second.permit == id_with_slot(4));
  CHECK(second.ttl == Milliseconds{1000});
  CHECK(second.facts);
  CHECK_FALSE(third.slot);
  CHECK(third.owner == Owner{to_hex(kTheirs)});
  CHECK(third.mode == Holder::Mode::permit);
}

TEST_CASE("a permit whose lease has ended is available, and makes a pool open") {
  const auto pool = [](const std::string& number, const std::string& end) {
    return read_found({.kind = "number", .content = {number}, .taken = {kTheirs, end}});
  };
  const Inspection over = pool("0", "1000");
  CHECK(over.kind == &kinds::permit);
  CHECK(over.available == 1);
  CHECK(over.total == 1);
  CHECK(over.holders.empty());
  CHECK(over.state == State::open);
  CHECK(pool("-1", "1000").state == State::closed);
  const Inspection taken = pool("0", "1001");
  CHECK(taken.available == 0);
  CHECK(taken.total == 1);
  CHECK(taken.holders.front().ttl == Milliseconds{1});
  CHECK(taken.state == State::held);
}

TEST_CASE("a permit without a lease has no TTL, and its facts name no lease") {
  Metadata facts = of_type("permit");
  facts.lease = Milliseconds{30000};
  const auto lease_of = [&](const std::string& end) {
    return read_found(
               {.kind = "number", .content = {"0"}, .taken = {id_with_slot(0), end}, .owners = {"me:1"}},
               {.facts = {{Owner{"me:1"}, facts}}})
        .holders.front();
  };
  CHECK_FALSE(lease_of("922337203685477").ttl);
  CHECK(lease_of("922337203685477").facts->lease == Milliseconds{0});
  CHECK(lease_of("922337203685476").ttl);
  CHECK(lease_of("922337203685476").facts->lease == Milliseconds{30000});
}

TEST_CASE("the sums of a pool stop at the largest number") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const Inspection seen = read_found({.kind = "number",
                                      .content = {std::to_string(kMost)},
                                      .taken = {kTheirs, "500", "abcdef0123456789", "2000"}});
  CHECK(seen.available == kMost);
  CHECK(seen.total == kMost);
}

TEST_CASE("the waiters in a fair queue come first, and then those of the line, each with its own facts") {
  const Texts line{"a:1", "300", "700", R"({"host":"web3"})", "b:1", "400", "600", ""};
  const Inspection seen = read_found({.content = {"me:1", "1"},
                                      .queue = {"b:1", "java:1"},
                                      .deadlines = {"b:1", "1250", "java:1", "900"},
                                      .line = line});
  CHECK(seen.kind == &kinds::fair);
  REQUIRE(seen.waiters.size() == 3);
  CHECK(seen.waiters[0].owner == Owner{"b:1"});
  CHECK(seen.waiters[0].ttl == Milliseconds{250});
  CHECK(seen.waiters[0].since == ServerTime{Milliseconds{600}});
  CHECK_FALSE(seen.waiters[0].facts);
  CHECK(seen.waiters[1].owner == Owner{"java:1"});
  CHECK(seen.waiters[1].ttl == Milliseconds{0});
  CHECK_FALSE(seen.waiters[1].since);
  CHECK(seen.waiters[2].owner == Owner{"a:1"});
  CHECK(seen.waiters[2].ttl == Milliseconds{300});
  CHECK(seen.waiters[2].since == ServerTime{Milliseconds{700}});
  CHECK(seen.waiters[2].facts->host == "web3");
}

TEST_CASE("waiters in a line make no lock a fair one, and a queue changes no kind that has none") {
  CHECK(read_found({.content = {"me:1", "1"}, .line = {"a:1", "300", "700", ""}}).kind == &kinds::lock);
  CHECK(read_found({.content = {"me:1", "1"}, .queue = {"a:1"}, .token = "7"}).kind == &kinds::fenced);
  CHECK(read_found({.kind = "number", .content = {"2"}, .queue = {"a:1"}}).kind == &kinds::semaphore);
  CHECK(read_found({.kind = "list", .queue = {"a:1"}}).foreign == "list");
  CHECK(read_found({.kind = "list", .queue = {"a:1"}}).kind == nullptr);
}

TEST_CASE("a waiter without a deadline in the queue counts as over") {
  const Inspection seen = read_found({.kind = "none", .pttl = -2, .queue = {"java:1"}});
  CHECK(seen.kind == &kinds::fair);
  REQUIRE(seen.waiters.size() == 1);
  CHECK(seen.waiters.front().ttl == Milliseconds{0});
}

TEST_CASE("a reply of another shape throws") {
  CHECK_THROWS_AS(read_inspection(kName, {}, Reply{1}), Error);
  CHECK_THROWS_AS(read_inspection(kName, {}, list({"1000", "lock", "30000", "me:1"})), Error);
  CHECK_THROWS_AS(read_found({.content = {"me:1", "many"}}), Error);
  const Reply ends_before_the_line{std::vector{Reply{1000}, Reply{"lock"}, Reply{30000}, list({"me:1", "1"}),
                                               list({}), list({}), list({}), list({}), list({})}};
  CHECK_THROWS_AS(read_inspection(kName, {}, ends_before_the_line), Error);
}

TEST_CASE("facts are read by owner, and what is no facts is left out") {
  const std::string facts = R"({"host":"web3"})";
  const KnownFacts known = read_facts(list({"me:1", facts, "you:1", "text", "they:1", facts}));
  CHECK(known.facts.size() == 2);
  CHECK(known.facts.at(Owner{"me:1"}).host == "web3");
  CHECK_FALSE(known.latch);
  CHECK(read_facts(Reply{}).facts.empty());
  CHECK(read_facts(Reply::error("NOPERM")).facts.empty());
  const KnownFacts odd = read_facts(
      Reply{std::vector{Reply{1}, Reply{facts}, Reply{"you:1"}, Reply{2}, Reply{"me:1"}, Reply{facts}}});
  CHECK(odd.facts.size() == 1);
}

TEST_CASE("an owner may be called like the record of a latch") {
  const KnownFacts owner = read_facts(list({"latch", R"({"host":"web3","total":3})"}));
  CHECK_FALSE(owner.latch);
  CHECK(owner.facts.at(Owner{"latch"}).host == "web3");
  const KnownFacts record = read_facts(list({"latch", R"({"total":3,"opened":null})"}));
  CHECK(record.latch);
  CHECK_FALSE(record.opened);
  CHECK(record.facts.empty());
  CHECK(read_facts(list({"latch", R"({"total":3,"opened":900})"})).opened);
  CHECK_FALSE(read_facts(list({"other", R"({"total":3,"opened":900})"})).latch);
}

TEST_CASE("the owners whose facts are known go with the question about the key") {
  const Facts facts{{Owner{"a:1"}, {}}, {Owner{"b:1"}, {}}};
  CHECK(inspect_key(kName, facts).args == Texts{"{deploy}:", "a:1", "b:1"});
  CHECK(inspect_key(kName, {}).args == Texts{"{deploy}:"});
}

TEST_CASE("only holders that are rlock lack facts") {
  const Owner rlock = new_owner();
  CHECK(lacks_facts(read_found({.content = {rlock.str(), "1"}})));
  CHECK_FALSE(lacks_facts(read_found({.content = {rlock.str(), "1"}}, {.facts = {{rlock, {}}}})));
  CHECK_FALSE(lacks_facts(read_found({.content = {"named-by-hand", "1"}})));
}
