// A lost answer makes rlock ask again, and the server still acts once.

#include <doctest/doctest.h>

#include "support/cli.h"
#include "support/eventually.h"
#include "support/redis_server.h"
#include "support/tcp_proxy.h"

using namespace rlock::test;

namespace {

/// A server behind a proxy that loses answers.
struct LossyServer {
  RedisServer redis{};
  TcpProxy proxy{redis.where()};

  Rlock rlock(Words words) {
    Process::Options options = redis.environment();
    options.env["RLOCK_URL"] = proxy.url();
    words.insert(words.end(), {"--command-timeout", "300ms"});
    return Rlock{words, options};
  }

  /// Closes each connection that has lost an answer: on a real network no connection goes on after a loss.
  void mend() {
    proxy.silence();
    proxy.reset_all();
    proxy.pass();
    proxy.reset_all();
  }

  /// Runs rlock while the answers after the first `pieces` of them are lost, until rlock has abandoned a
  /// connection.
  int run_with_lost_answers(const Words& words, std::size_t pieces) {
    const std::size_t before = proxy.connections();
    proxy.drop_answers_after(pieces);
    Rlock run = rlock(words);
    eventually([&] { return proxy.connections() > before + 1 || !run.running(); }, kDeadline);
    mend();
    const int status = run.exit_code(kDeadline);
    INFO(run.err());
    CHECK(status != 77);
    return status;
  }

  long long number(const std::string& key) {
    const std::string text = redis.cli({"GET", key});
    return text.empty() ? 0 : std::stoll(text);
  }
};

}  // namespace

TEST_CASE(
    "if answers are lost, a release of a semaphore counts at most once, and once if rlock exits with 0") {
  LossyServer scene;
  scene.redis.cli({"SET", "s", "0"});
  long long before = 0;
  int confirmed = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    CAPTURE(i);
    const int status = scene.run_with_lost_answers({"sem", "release", "s"}, i % 4);
    const long long now = scene.number("s");
    CHECK(now - before <= 1);
    if (status == 0) CHECK(now - before == 1);
    confirmed += status == 0 ? 1 : 0;
    before = now;
  }
  CHECK(confirmed > 0);
}

TEST_CASE("if answers are lost, a latch is counted down at most once, and once if rlock exits with 0") {
  LossyServer scene;
  scene.redis.cli({"SET", "gate", "100"});
  long long before = 100;
  for (std::size_t i = 0; i < 8; ++i) {
    CAPTURE(i);
    const int status = scene.run_with_lost_answers({"latch", "down", "gate"}, i % 4);
    const long long now = scene.number("gate");
    CHECK(before - now <= 1);
    if (status == 0) CHECK(before - now == 1);
    before = now;
  }
}

TEST_CASE(
    "if answers are lost, permits of a semaphore are taken at most once, and kept if rlock exits with 0") {
  LossyServer scene;
  scene.redis.cli({"SET", "s", "100"});
  long long before = 100;
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    const int status = scene.run_with_lost_answers({"sem", "acquire", "s", "-w", "20s"}, i % 4);
    const long long now = scene.number("s");
    CHECK(status == 0);
    CHECK(before - now == 1);
    before = now;
  }
}

TEST_CASE(
    "if answers are lost, the release of a permit is not taken for one of a permit that no client holds") {
  LossyServer scene;
  REQUIRE(scene.redis.rlock("permit", "init", "pool", "3").exit_code(kDeadline) == 0);
  int confirmed = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    CAPTURE(i);
    Rlock acquire = scene.redis.rlock("permit", "acquire", "pool", "--lease", "1h");
    REQUIRE(acquire.exit_code(kDeadline) == 0);
    const std::string id = acquire.out().substr(0, 32);
    const int status =
        i % 2 == 0 ? scene.run_with_lost_answers({"permit", "release", "pool", id}, i / 2)
                   : scene.run_with_lost_answers({"unlock", "--yes", "pool", "--if-owner", id}, i / 2);
    CHECK(status != 1);
    if (status == 0) CHECK(scene.number("pool") == 3);
    confirmed += status == 0 ? 1 : 0;
    scene.redis.rlock("permit", "release", "pool", id).exit_code(kDeadline);
    CHECK(scene.number("pool") == 3);
  }
  CHECK(confirmed > 0);
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    const Words release{"permit", "release", "pool", std::string(32, 'a')};
    CHECK(scene.run_with_lost_answers(release, i) != 0);  // no client holds this one
  }
}

TEST_CASE("if answers are lost, a lock that unlock has removed is not reported as free before") {
  LossyServer scene;
  for (const std::string type : {"lock", "read", "write", "plain"}) {
    int confirmed = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      CAPTURE(type);
      CAPTURE(i);
      REQUIRE(scene.redis.rlock("lock", "acquire", "k", "--type", type, "--owner", "me", "--lease", "1h")
                  .exit_code(kDeadline) == 0);
      const int status = scene.run_with_lost_answers({"unlock", "--yes", "k", "--if-owner", "me"}, i);
      CHECK(status != 1);
      if (status == 0) CHECK_FALSE(scene.redis.has("k"));
      confirmed += status == 0 ? 1 : 0;
      scene.redis.del("k");
    }
    CHECK(confirmed > 0);
  }
}

TEST_CASE("a lock that was granted to a run that gave up is released when the server can be reached again") {
  LossyServer scene;
  // This run loads the scripts into the server: without a reply, rlock cannot hear that they are missing.
  REQUIRE(scene.redis.rlock("run", "-k", "k", "--", "true").exit_code(kDeadline) == 0);
  scene.proxy.drop(TcpProxy::Way::to_client);
  Rlock run = scene.rlock({"lock", "acquire", "-n", "k", "--lease", "1h"});
  CHECK(eventually([&] { return scene.redis.has("k"); }, kDeadline));
  scene.proxy.refuse();
  scene.proxy.reset_all();
  CHECK(run.exit_code(kDeadline) == 69);
  CHECK(scene.redis.has("k"));

  scene.mend();
  CHECK(eventually([&] { return !scene.redis.has("k"); }, kDeadline));
}

TEST_CASE("a pool of permits is whole again after runs with lost answers") {
  LossyServer scene;
  for (std::size_t i = 0; i < 5; ++i) {
    CAPTURE(i);
    const Words run{"run", "-q", "-w", "20s", "-k", "pool", "--permits", "3", "--lease", "6s"};
    Words words = run;
    const std::size_t before = scene.proxy.connections();
    scene.proxy.drop_answers_after(i % 5);
    words.insert(words.end(), {"--command-timeout", "300ms", "--", "true"});
    Process::Options options = scene.redis.environment();
    options.env["RLOCK_URL"] = scene.proxy.url();
    Rlock process{words, options};
    eventually([&] { return scene.proxy.connections() > before + 1 || !process.running(); }, kDeadline);
    scene.mend();
    CHECK_MESSAGE(process.exit_code(kDeadline) == 0, process.err());
    const long long taken = std::stoll(scene.redis.cli({"ZCARD", "{pool}:timeout"}));
    CHECK(scene.number("pool") + taken == 3);
  }
  Rlock last = scene.rlock({"permit", "acquire", "pool", "--count", "3", "--lease", "1m", "-w", "20s"});
  CHECK(last.exit_code(kDeadline) == 0);
  CHECK(scene.number("pool") == 0);
}
