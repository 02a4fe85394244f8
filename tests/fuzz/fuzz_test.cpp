#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "fuzz/properties.h"
#include "support/dice.h"

using namespace rlock;
using namespace rlock::test;

namespace {

constexpr int kRounds = 20'000;
constexpr std::uint32_t kSeed = 20240612;

/// A sequence of words of `grammar` and some bytes. Most results are nearly right: there mistakes hide.
std::string composed(Dice& dice, const std::vector<std::string>& grammar) {
  std::string text;
  for (std::size_t parts = dice.below(9); parts > 0; --parts) {
    text += dice.below(8) == 0 ? dice.bytes(3) : dice.pick(grammar);
  }
  return text;
}

template <class Check>
void try_many(Check&& check, const std::vector<std::string>& grammar) {
  Dice dice{kSeed};
  for (int round = 0; round < kRounds; ++round) {
    const std::string input = composed(dice, grammar);
    CAPTURE(kSeed);
    CAPTURE(round);
    CAPTURE(to_hex(input));
    REQUIRE_NOTHROW(check(input));
  }
}

}  // namespace

TEST_CASE("all bytes keep the properties of a target") {
  try_many(check_target, {"redis://",
                          "rediss://",
                          "valkey://",
                          "unix://",
                          "redis+sentinel://",
                          "redis+cluster://",
                          "local:",
                          "user",
                          ":",
                          "secret",
                          "@",
                          "h",
                          "db.example",
                          "[::1]",
                          "[fe80::1%25eth0]",
                          ":6379",
                          ",",
                          "/",
                          "/0",
                          "/run/x.sock",
                          "/master",
                          "?db=1",
                          "?",
                          "#",
                          "%",
                          "%40",
                          "%00",
                          "%2f",
                          "%C3%BC",
                          "99999"});
}

TEST_CASE("all bytes keep the properties of a duration") {
  try_many(check_duration, {"1", "0",  "9",  "30",  "99999999", "9223372036854775807",
                            ".", ".5", "ms", "s",   "m",        "h",
                            "d", "-",  "+",  "e",   "E3",       " ",
                            "_", ",",  "0x", "nan", "inf"});
}

TEST_CASE("no bytes get past the sanitizer") {
  try_many(check_sanitized,
           {"deploy", "\x1b[31m", "\n", "\x7f", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x80\xa8", "ü", "日", "🔒",
            "\xf0\x9f", "\xed\xa0\x80", "\xc0\xaf", "\xff", "\\x1b", "..."});
}

TEST_CASE("the names beside a key contain it, and share its slot if the key is placeable") {
  try_many(check_names, {"{", "}", "{}", "{t}", "a", ":", "orders", "redisson_lock_queue:{x}"});
}
