#include "sync/calls/keys.h"

#include <doctest/doctest.h>

#include <string>

#include "support/dice.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// The part of a key that decides its slot: the text between the first '{' and the first '}' after it. If
/// there is none, or the text is empty, it is the whole key.
std::string hashed_part(const std::string& key) {
  const auto open = key.find('{');
  if (open == std::string::npos) return key;
  const auto close = key.find('}', open + 1);
  if (close == std::string::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

}  // namespace

TEST_CASE("names beside a key are built as Redisson builds them") {
  CHECK(prefix_name("redisson_lock_queue", LockName{"orders"}) == "redisson_lock_queue:{orders}");
  CHECK(prefix_name("redisson_lock__channel", LockName{"{t}x"}) == "redisson_lock__channel:{t}x");
  CHECK(prefix_name("redisson_lock__channel", LockName{"a{b"}) == "redisson_lock__channel:a{b");
  CHECK(prefix_name("redisson_lock__channel", LockName{"a}b"}) == "redisson_lock__channel:{a}b}");
  CHECK(suffix_name(LockName{"permits"}, "timeout") == "{permits}:timeout");
  CHECK(suffix_name(LockName{"x{t}"}, "timeout") == "x{t}:timeout");
  CHECK(suffix_name(LockName{"pre:W"}, "8d1f:57:rwlock_timeout:1") == "{pre:W}:8d1f:57:rwlock_timeout:1");
}

TEST_CASE("rlock's own key follows the same rule") {
  CHECK(metadata_key(LockName{"deploy"}) == "rlock:meta:{deploy}");
  CHECK(metadata_key(LockName{"{t}deploy"}) == "rlock:meta:{t}deploy");
}

TEST_CASE("a cluster can place a name with a whole hash tag, or without braces") {
  for (const char* name : {"plain", "a:b", "{t}x", "x{t}y", "a}b{c}", "{t}{", "{t}}", "{{t}"}) {
    CAPTURE(name);
    CHECK(placeable(LockName{name}));
  }
  for (const char* name : {"a{b", "{}x", "a}b", "a}b{c", "}", "{", "x{}{t}"}) {
    CAPTURE(name);
    CHECK_FALSE(placeable(LockName{name}));
  }
}

TEST_CASE("a name is placeable exactly when everything derived from it shares its slot") {
  Dice dice{20240608};
  for (int round = 0; round < 5000; ++round) {
    const LockName name{"" + dice.text("ab:{}", 8)};
    if (name.empty()) continue;
    CAPTURE(name.str());
    const std::string slot = hashed_part(name.str());
    const bool together = hashed_part(prefix_name("redisson_lock_queue", name)) == slot &&
                          hashed_part(suffix_name(name, "timeout")) == slot &&
                          hashed_part(metadata_key(name)) == slot;
    CHECK(placeable(name) == together);
  }
}
