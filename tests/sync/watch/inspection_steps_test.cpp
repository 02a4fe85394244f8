#include "sync/watch/inspection_steps.h"

#include <doctest/doctest.h>

#include "base/owner_id.h"
#include "support/usual_names.h"
#include "sync/watch/glance.h"

using namespace rlock;
using namespace rlock::test;

namespace {

const Reply kNone{std::vector<Reply>{}};

Reply text(const std::string& value) { return Reply{value}; }

/// The answer of inspect/key about a key without a token, without permits and without waiters of rlock.
Reply key_answer(const std::string& kind, std::int64_t pttl, const Reply& content = kNone,
                 const Reply& queue = kNone, const Reply& deadlines = kNone) {
  return Reply{std::vector{Reply{1000}, text(kind), Reply{pttl}, content, queue, deadlines, kNone, kNone,
                           kNone, kNone, Reply{0}, Reply{0}, kNone}};
}

/// The answer of inspect/key about a lock of `owner`.
Reply held_by(const Owner& owner) {
  return key_answer("lock", 30000, Reply{std::vector{text(owner.str()), text("1")}});
}

/// The answer of inspect/glance about a lock of `owner`.
Reply glanced_at(const Owner& owner, const std::string& facts) {
  return Reply{std::vector{Reply{1000}, text("lock"), Reply{30000}, Reply{0}, Reply{0}, Reply{0}, text(""),
                           text(owner.str()), text(""), Reply{30000}, Reply{1}, text(facts)}};
}

Reply facts_of(const Owner& owner) {
  const std::string facts = R"({"since":1,"renewed":1,"lease_ms":30000,"host":"web3"})";
  return Reply{std::vector{text(owner.str()), text(facts)}};
}

Vote vote(const Reply& reply) {
  Vote vote;
  vote.result = reply;
  return vote;
}

const Inspection* seen_at(const InspectionSteps& steps, std::size_t node) {
  return std::get_if<Inspection>(&steps.views()[node]);
}

}  // namespace

TEST_CASE("an inspection asks for facts, then for the key, and then it is over") {
  const Owner owner = new_owner();
  InspectionSteps steps{kName};
  CHECK_FALSE(steps.asks_the_key());
  steps.read({vote(facts_of(owner))});
  CHECK(steps.asks_the_key());
  CHECK(steps.call()->args == std::vector<std::string>{"{deploy}:", owner.str()});
  steps.read({vote(held_by(owner))});

  CHECK_FALSE(steps.call());
  REQUIRE(seen_at(steps, 0) != nullptr);
  CHECK(seen_at(steps, 0)->holders.front().facts->host == "web3");
}

TEST_CASE("an inspection asks for facts again when an rlock has come between the two replies") {
  const Owner owner = new_owner();
  InspectionSteps steps{kName};
  steps.read({vote(kNone)});
  steps.read({vote(held_by(owner))});
  REQUIRE(steps.call());
  CHECK_FALSE(steps.asks_the_key());
  steps.read({vote(facts_of(owner))});

  CHECK_FALSE(steps.call());
  CHECK(seen_at(steps, 0)->holders.front().facts->host == "web3");
}

TEST_CASE("a holder without facts does not hold up an inspection") {
  InspectionSteps steps{kName};
  steps.read({vote(kNone)});
  steps.read({vote(held_by(new_owner()))});
  steps.read({vote(Reply::error("NOPERM"))});

  CHECK_FALSE(steps.call());
  CHECK_FALSE(seen_at(steps, 0)->holders.front().facts);
}

TEST_CASE("each node without an answer is known with its reason") {
  const Owner owner = new_owner();
  Vote lost;
  lost.result = Failure{Error::unreachable, "connection refused"};
  InspectionSteps steps{kName};
  steps.read({vote(facts_of(owner)), Vote{}, lost, vote(kNone), vote(kNone)});
  steps.read({vote(held_by(owner)), Vote{}, lost, vote(text("what")), vote(Reply::error("NOPERM no"))});

  CHECK_FALSE(steps.call());
  CHECK(seen_at(steps, 0) != nullptr);
  const auto failure_at = [&](std::size_t node) { return std::get<Failure>(steps.views()[node]); };
  CHECK(failure_at(1).text == "no answer");
  CHECK(failure_at(2).text == "connection refused");
  CHECK(failure_at(3).kind == Error::internal);
  CHECK(failure_at(4).kind == Error::denied);
}

TEST_CASE("the view of the holder that most nodes know counts") {
  const auto seen_by = [](const std::string& owner) {
    return read_inspection(kName, {}, held_by(Owner{owner}));
  };
  const std::vector<Inspection> seen{seen_by("a:1"), seen_by("b:1"), seen_by("b:1")};
  CHECK(agreed(seen).holders.front().owner == Owner{"b:1"});
  CHECK(agreed(seen, Owner{"a:1"}).holders.front().owner == Owner{"a:1"});
  CHECK(nodes_that_see(seen, Owner{"b:1"}) == 2);
  CHECK(agreed({seen[1], seen[2], seen[0]}).holders.front().owner == Owner{"b:1"});

  Inspection nothing, permits;
  permits.kind = &kinds::permit;
  REQUIRE(nothing.absent());
  CHECK(agreed({nothing, permits, nothing}).kind == &kinds::permit);  // it has no holders
}

TEST_CASE("of the views of a holder, one with its metadata counts") {
  const auto seen_by = [](const Owner& owner, bool knows) {
    return read_inspection(kName, knows ? read_facts(facts_of(owner)) : KnownFacts{}, held_by(owner));
  };
  const Owner owner{"a:1"}, other{"b:1"};
  const std::vector<Inspection> seen{seen_by(owner, false), seen_by(owner, true), seen_by(other, true)};
  CHECK(agreed(seen).holders.front().facts);
  CHECK(agreed(seen).holders.front().owner == owner);
  CHECK(agreed(seen, owner).holders.front().facts);
  CHECK(agreed(seen, other).holders.front().owner == other);
  // A stranger with metadata is not the owner, and does not outvote a holder that more nodes see.
  CHECK(agreed({seen[2], seen[0]}, owner).holders.front().owner == owner);
  CHECK(agreed({seen[2], seen[0], seen[0]}).holders.front().owner == owner);
}

TEST_CASE("an open latch has no key any more, and its record distinguishes it from a missing key") {
  const auto seen = [](const std::string& record) {
    const KnownFacts known = read_facts(Reply{std::vector{text("latch"), text(record)}});
    return read_inspection(kName, known, key_answer("none", -2));
  };
  const Inspection open = seen(R"({"total":2,"opened":1700000000000})");
  CHECK(open.kind == &kinds::latch);
  CHECK(open.state == Inspection::State::open);
  CHECK(open.count == 0);
  CHECK(seen(R"({"total":2,"opened":null})").absent());
}

TEST_CASE("a lock with Redisson's queue is a fair one, also while nobody holds it") {
  for (const std::string kind : {"lock", "none"}) {
    const Reply queue{std::vector{text("w:1")}}, ends{std::vector{text("w:1"), text("900")}};
    const Reply content = kind == "lock" ? Reply{std::vector{text("me:1"), text("1")}} : kNone;
    const Inspection seen = read_inspection(kName, {}, key_answer(kind, 30000, content, queue, ends));
    CHECK(seen.kind == &kinds::fair);
    REQUIRE(seen.waiters.size() == 1);
    CHECK(seen.waiters.front().ttl == Milliseconds{0});  // its deadline is over
  }
}

TEST_CASE("the facts of a crowd may make a large reply") {
  CHECK(ask_facts(kName).largest_reply > Call{}.largest_reply);
  CHECK(inspect_key(kName, {}).largest_reply > Call{}.largest_reply);
  CHECK(glance_at(kName, Owner{"w:1"}).largest_reply > Call{}.largest_reply);
}

TEST_CASE("a glance asks once, and once more if a holder has come whose facts are missing") {
  const Owner owner = new_owner();
  const std::string facts = R"({"host":"web3"})";
  InspectionSteps known{kName, Owner{"w:1"}};
  REQUIRE(known.call());
  CHECK(known.call()->script == glance_at(kName, Owner{"w:1"}).script);
  known.read({vote(glanced_at(owner, facts))});
  CHECK_FALSE(known.call());
  REQUIRE(seen_at(known, 0) != nullptr);
  CHECK(seen_at(known, 0)->holders.front().facts->host == "web3");

  InspectionSteps later{kName, Owner{"w:1"}};
  later.read({vote(glanced_at(owner, ""))});
  REQUIRE(later.call());
  CHECK(later.call()->args == glance_at(kName, Owner{"w:1"}).args);
  later.read({vote(glanced_at(owner, facts))});
  CHECK_FALSE(later.call());
  CHECK(seen_at(later, 0)->holders.front().facts->host == "web3");

  InspectionSteps never{kName, Owner{"w:1"}};
  never.read({vote(glanced_at(owner, ""))});
  never.read({vote(glanced_at(owner, ""))});
  CHECK_FALSE(never.call());
  CHECK_FALSE(seen_at(never, 0)->holders.front().facts);
}
