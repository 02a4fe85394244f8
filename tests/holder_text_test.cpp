#include "cmd/holder_text.h"

#include <doctest/doctest.h>

using namespace rlock;
using std::chrono_literals::operator""s;

namespace {

const Owner kOwner{"6e0f0261-922f-4ca9-9275-5cd246e2e294:57"};

Metadata alice() {
  Metadata facts;
  facts.user = "alice";
  facts.host = "ci-7";
  facts.pid = 4121;
  facts.command = "make";
  facts.reason = "hotfix 42";
  facts.since = 1000s;
  return facts;
}

}  // namespace

TEST_CASE("a holder is shown as a person looks for it") {
  CHECK(holder_text(kOwner, alice(), 1723s) == "alice@ci-7 pid 4121 for 12m03s (make) \"hotfix 42\"");
  CHECK(holder_text(kOwner, alice(), std::nullopt) == "alice@ci-7 pid 4121 (make) \"hotfix 42\"");
}

TEST_CASE("a holder without metadata is a client of Redisson") {
  CHECK(holder_text(kOwner, std::nullopt, std::nullopt) == "6e0f02...:57 (a Redisson client)");
  CHECK(holder_text(Owner{""}, std::nullopt, std::nullopt) == "somebody");
}

TEST_CASE("what only --min-hold keeps says when and how it ended") {
  Metadata facts = alice();
  facts.ended_at = 2000s;
  facts.exit = 0;
  CHECK(holder_text(kOwner, facts, 2040s) == "alice@ci-7 (make), finished 40s ago (exit 0)");
}

TEST_CASE("a clock that runs backwards and hostile bytes do no harm") {
  Metadata facts = alice();
  facts.user = "al\x1b[31mice";
  facts.reason = std::string(5000, 'x');
  const std::string text = holder_text(kOwner, facts, 1s);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.size() < 400);
}
