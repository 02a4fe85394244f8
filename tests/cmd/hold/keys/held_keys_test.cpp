#include "cmd/hold/keys/held_keys.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/owner_id.h"
#include "scripts.h"
#include "support/contains.h"
#include "sync/calls/requests.h"
#include "sync/kinds/once_per.h"
#include "sync/records/holder_messages.h"

using namespace rlock;
using namespace rlock::test;

namespace {

HoldRequest request_for(const std::vector<std::string>& keys, std::string_view type = "lock") {
  HoldRequest request;
  for (const std::string& key : keys) request.names.emplace_back(key);
  request.type = find_lock_type(type);
  request.deployment.targets = {parse_target("redis://h")};
  return request;
}

const Owner kOurs{"us:1"};
const InheritedHold kOuter{"lock", Owner{"outer:1"}, LockName{"a"}};

WantedKeys wanted_keys(const HoldRequest& request, const std::vector<InheritedHold>& above = {}) {
  return {request, {.owner = kOurs, .above = above}};
}

/// The request that the acquire of a key carries, or "".
std::string request_of(const Part& part) {
  const std::string begin = request_key(part.lock->name(), RequestId{});
  for (const std::string& key : part.lock->ask().keys) {
    const std::string rest = key.starts_with(begin) ? key.substr(begin.size()) : "";
    if (!rest.empty() && rest.find_first_not_of("0123456789abcdef") == std::string::npos) return rest;
  }
  return "";
}

bool adds_a_hold(const Part& part) { return part.lock->ask().script == &scripts::lock_enter; }

}  // namespace

TEST_CASE("keys that no process above us holds get our owner, and our metadata beside each acquire") {
  const HoldRequest request = request_for({"a", "b"});
  const WantedKeys keys = wanted_keys(request);
  CHECK_FALSE(keys.joins());
  CHECK_FALSE(keys.joins_all());
  CHECK(keys.id() == kOurs);
  CHECK_FALSE(keys.acquire_request().together == std::nullopt);
  for (const Part& part : keys.parts()) {
    CHECK(part.lock->owner() == kOurs);
    CHECK(part.followers.size() == 1);
    CHECK(part.release_followers.size() == 1);
  }
}

TEST_CASE("one key needs no script for several keys, and keys in several slots of a Cluster can have none") {
  const HoldRequest one = request_for({"a"});
  CHECK(wanted_keys(one).acquire_request().together == std::nullopt);
  HoldRequest several = request_for({"a", "b"});
  several.deployment.targets.front().topology = Target::Topology::cluster;
  CHECK(wanted_keys(several).acquire_request().together == std::nullopt);
  HoldRequest one_slot = request_for({"{t}a", "{t}b"});
  one_slot.deployment.targets = several.deployment.targets;
  CHECK_FALSE(wanted_keys(one_slot).acquire_request().together == std::nullopt);
}

TEST_CASE("a key that a process above us holds is joined, and our facts stand back behind its own") {
  const HoldRequest request = request_for({"a", "b"});
  const WantedKeys some = wanted_keys(request, {kOuter});
  CHECK(some.joins());
  CHECK_FALSE(some.joins_all());
  CHECK(some.owner() == kOurs);
  CHECK(some.parts().front().lock->owner() == kOuter.owner);
  // The last argument of meta/write says that these facts stand back behind those of the hold around it.
  REQUIRE(some.parts().front().followers.size() == 1);
  CHECK(some.parts().front().followers.front().args.back() == "1");
  CHECK(some.parts().front().release_followers.size() == 1);
  CHECK(some.parts().back().lock->owner() == kOurs);
  REQUIRE(some.parts().back().followers.size() == 1);
  CHECK(some.parts().back().followers.front().args.back() == "0");

  const WantedKeys all = wanted_keys(request, {kOuter, {"lock", kOuter.owner, LockName{"b"}}});
  CHECK(all.joins_all());
  CHECK(all.owner() == kOuter.owner);
  const WantedKeys of_two = wanted_keys(request, {kOuter, {"lock", Owner{"another:1"}, LockName{"b"}}});
  CHECK(of_two.joins());
  CHECK_FALSE(of_two.joins_all());
  CHECK(of_two.owner() == kOurs);
}

TEST_CASE("a run inside learns each hold, and a joined one is that of the outer owner") {
  const HoldRequest request = request_for({"a", "b"});
  const std::vector<InheritedHold> holds = wanted_keys(request, {kOuter}).holds();
  REQUIRE(holds.size() == 2);
  CHECK(holds[0].type == "lock");
  CHECK(holds[0].owner == kOuter.owner);
  CHECK(holds[0].key == LockName{"a"});
  CHECK(holds[1].owner == kOurs);
  CHECK(holds[1].key == LockName{"b"});
}

TEST_CASE("a key whose release is not confirmed ends with its lease, or later if it is to be kept longer") {
  HoldRequest request = request_for({"a", "b"});
  request.lease = Milliseconds{30000};
  const WantedKeys keys = wanted_keys(request, {kOuter});
  const Part &joined = keys.parts().front(), &own = keys.parts().back();
  CHECK(keys.expires_within(own, Milliseconds{0}) == Milliseconds{30000});
  CHECK(keys.expires_within(own, Milliseconds{60000}) == Milliseconds{60000});
  CHECK_FALSE(keys.expires_within(joined, Milliseconds{60000}));
}

TEST_CASE("only an owner that a user named may acquire again later") {
  HoldRequest request = request_for({"a"});
  const Owner of_rlock = new_owner();
  const auto returns = [&](const std::optional<Owner>& outer) {
    return wanted_keys(request, outer ? std::vector{InheritedHold{"lock", *outer, LockName{"a"}}}
                                      : std::vector<InheritedHold>{})
        .owner_returns();
  };
  const WantedKeys ours{request, {.owner = of_rlock}};
  CHECK_FALSE(ours.owner_returns());
  CHECK_FALSE(returns(of_rlock));
  CHECK(returns(Owner{"ci-42"}));
  request.owner = of_rlock;
  CHECK(returns(std::nullopt));
}

TEST_CASE(
    "the type is in a hold's metadata only if the key does not show it, and the end of the hold has times") {
  for (const auto& [type, noted] : {std::pair{"lock", ""}, {"fair", "fair"}, {"fenced", "fenced"}}) {
    CAPTURE(type);
    HoldRequest request = request_for({"a"}, type);
    const TimePoint asked = Clock::now();
    request.started = asked - Milliseconds{700};
    const HeldKeys keys{wanted_keys(request),
                        {.asked = asked, .held = {{.server_time = ServerTime{Milliseconds{5000}}}}},
                        asked};
    CHECK(keys.waited() == Milliseconds{700});
    const PastHold past = keys.past({.outcome = HoldOutcome::ran}, plus(asked, Milliseconds{300}));
    CHECK(past.type == type);
    CHECK(past.end.outcome == HoldOutcome::ran);
    CHECK(past.waited == Milliseconds{700});
    CHECK(past.facts.since == ServerTime{Milliseconds{5000}});
    CHECK(past.ended == ServerTime{Milliseconds{5300}});
    CHECK(past.facts.type == noted);
  }
}

TEST_CASE(
    "an acquire carries a request if its owner may have another hold, and the id of an inner hold names it") {
  HoldRequest request = request_for({"a", "b"});
  const WantedKeys keys = wanted_keys(request, {kOuter});
  CHECK(keys.id().str() == kOurs.str() + "#" + request_of(keys.parts().front()));
  CHECK(request_of(keys.parts().back()).empty());

  request.owner = kOurs;  // another process may use the same --owner
  const WantedKeys named = wanted_keys(request, {kOuter});
  const std::string inner = request_of(named.parts().front()), own = request_of(named.parts().back());
  CHECK(named.id().str() == kOurs.str() + "#" + inner);
  CHECK_FALSE(own.empty());
  CHECK(own != inner);
}

TEST_CASE("a waiter with --newest asks with its ticket, but not for a key that it joins") {
  const HoldRequest request = request_for({"a", "b"});
  const WantedKeys keys{request, {.owner = kOurs, .above = {kOuter}, .ticket = 4711}};
  const auto has_ticket = [](const Part& part) {
    const Call ask = part.lock->ask();
    return std::ranges::find(ask.args, "4711") != ask.args.end();
  };
  CHECK_FALSE(has_ticket(keys.parts().front()));
  CHECK(has_ticket(keys.parts().back()));
}

TEST_CASE("a key that is joined gets one more hold, as each key does with --again") {
  const HoldRequest request = request_for({"a", "b"});
  const WantedKeys some = wanted_keys(request, {kOuter});
  CHECK(adds_a_hold(some.parts().front()));
  CHECK_FALSE(adds_a_hold(some.parts().back()));
  HoldRequest once_more = request_for({"a", "b"});
  once_more.again = true;
  const WantedKeys again{once_more, {.owner = kOurs}};
  for (const Part& part : again.parts()) CHECK(adds_a_hold(part));
  const WantedKeys first_of_b{once_more, {.owner = kOurs, .not_yet_held = {LockName{"b"}}}};
  CHECK(adds_a_hold(first_of_b.parts().front()));
  CHECK_FALSE(adds_a_hold(first_of_b.parts().back()));
}

TEST_CASE("the release of a key that stays says by which option, and how the command ended") {
  for (const bool once : {true, false}) {
    CAPTURE(once);
    HoldRequest request = request_for({"a"});
    request.min_hold = Milliseconds{60000};
    if (once) request.once_per = request.min_hold;
    const TimePoint asked = Clock::now();
    const HeldKeys keys{wanted_keys(request),
                        {.asked = asked, .held = {{.server_time = ServerTime{Milliseconds{5000}}}}},
                        asked};
    const std::vector<Part> parts = keys.ending_kept(7, keys.past({.outcome = HoldOutcome::ran}, asked));
    CHECK((dynamic_cast<const OncePer*>(parts.front().lock.get()) != nullptr) == once);
    REQUIRE_FALSE(parts.front().release_followers.empty());
    const std::vector<std::string>& args = parts.front().release_followers.front().args;
    const auto with = [&](const std::string& text) {
      return std::ranges::any_of(args, [&](const std::string& one) { return contains(one, text); });
    };
    CHECK(with(once ? R"("kept_by":"--once-per")" : R"("kept_by":"--min-hold")"));
    CHECK(with(R"("exit":7)"));
  }
}

TEST_CASE("an owner that a user named tells the others that may share its hold, unless the hold was lost") {
  for (const bool named : {true, false}) {
    for (const HoldOutcome how : {HoldOutcome::ran, HoldOutcome::lost, HoldOutcome::removed}) {
      CAPTURE(named);
      CAPTURE(text_of(how));
      HoldRequest request = request_for({"a"});
      if (named) request.owner = kOurs;
      const TimePoint asked = Clock::now();
      const HeldKeys keys{wanted_keys(request), {.asked = asked, .held = {{}}}, asked};
      const std::vector<Part> parts = keys.ending(keys.parts(), keys.past({.outcome = how}, asked));
      const auto with = [&](std::string_view text) {
        return std::ranges::any_of(parts.front().release_followers, [&](const Call& call) {
          return std::ranges::find(call.args, text) != call.args.end();
        });
      };
      const bool may_go_on = named && how == HoldOutcome::ran;
      CHECK(with(kReleased) == may_go_on);
      CHECK(with("known") == may_go_on);  // the server writes an end only if there is one
      CHECK(with("ended") != may_go_on);
    }
  }
}
