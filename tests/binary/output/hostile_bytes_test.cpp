// Any client with write access to the server chooses keys, owners and facts: no screen obeys a byte of them.

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>

#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/redis_server.h"

using namespace rlock::test;

namespace {

/// An escape sequence, a line of its own, a C1 control character as a byte and as UTF-8, invalid UTF-8, and a
/// bell.
const std::string kHostile = "k\x1b[31m\nrlock: all is well\x9b\xc2\x9b\xff\x07";

/// True: the text consists of printable ASCII and line ends only.
bool harmless(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

void expect_harmless(const std::string& what, const std::string& text) {
  CHECK_MESSAGE(harmless(text), what);
  CHECK_FALSE_MESSAGE(contains(text, "\nrlock: all is well"), what);
}

void hold_hostile(RedisServer& redis) {
  const std::string owner = "o\x1b]0;x\x07";
  redis.cli({"HSET", kHostile, owner, "1"});
  redis.cli({"PEXPIRE", kHostile, "600000"});
  redis.cli({"HSET", "rlock:meta:{" + kHostile + "}", owner,
             R"({"host":"h\u001b[1m","pid":1,"user":"u\nrlock: all is well","command":"\u009bc",)"
             R"("reason":"\u202er","labels":{"a\u001b":"b\u0007"},"url":"\u001b]8;;x","since":1,)"
             R"("renewed":1,"lease_ms":1000,"ended_at":null,"exit":null})"});
}

}  // namespace

TEST_CASE("no screen of any verb obeys bytes from the server") {
  RedisServer redis;
  hold_hostile(redis);
  for (const Words& words : {Words{"inspect", kHostile},
                             Words{"inspect", "-v", kHostile},
                             Words{"inspect", "--json", kHostile},
                             Words{"inspect"},
                             Words{"inspect", "-q"},
                             Words{"run", "-n", "-k", kHostile, "--", "true"},
                             Words{"run", "-w", "1200ms", "-k", kHostile, "--", "true"},
                             Words{"lock", "acquire", "-n", kHostile, "--lease", "1m"},
                             Words{"lock", "status", kHostile},
                             Words{"lock", "release", kHostile, "--owner", "x"},
                             Words{"sem", "acquire", kHostile + "s"},
                             Words{"sem", "status", kHostile},
                             Words{"permit", "status", kHostile},
                             Words{"latch", "wait", kHostile + "l"},
                             Words{"latch", "status", kHostile},
                             Words{"run", "-k", "other", "--", kHostile},
                             Words{kHostile},
                             Words{"run", "--" + kHostile},
                             Words{"inspect", "--url", kHostile},
                             Words{"unlock", "--yes", kHostile}}) {
    CAPTURE(words.front());
    Rlock rlock{words, redis.environment()};
    CHECK(rlock.exit_code() >= 0);
    expect_harmless(words.front(), rlock.out());
    expect_harmless(words.front(), rlock.err());
  }
}

TEST_CASE("neither a loss nor a wrong type nor a question lets hostile bytes through") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-k", kHostile, "--lease", "3s", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has(kHostile); }));
  redis.del(kHostile);
  CHECK(run.exit_code() == 125);
  expect_harmless("lost", run.err());

  redis.cli({"RPUSH", kHostile, "x"});
  Rlock wrong = redis.rlock("run", "-k", kHostile, "--", "true");
  CHECK(wrong.exit_code() == 65);
  expect_harmless("wrong type", wrong.err());
  redis.del(kHostile);

  hold_hostile(redis);
  Pty pty{{rlock_binary(), "unlock", kHostile}, redis.environment()};
  pty.expect("[y/N] ");
  std::string screen = pty.screen();
  std::erase(screen, '\r');
  expect_harmless("the question of unlock", screen);
  pty.type("n\r");
  CHECK(pty.exit_code() == 1);
}
