// The keeper of a script is killed, and its guardian ends the script and releases the lock.

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "support/event_lines.h"
#include "support/eventually.h"
#include "support/figures.h"
#include "support/lock_verbs.h"
#include "support/profile.h"
#include "support/redis_server.h"
#include "support/script.h"
#include "support/tcp_proxy.h"
#include "support/witness.h"

using namespace rlock::test;
using namespace std::chrono_literals;

namespace {

using Span = std::chrono::milliseconds;

}  // namespace

TEST_CASE("if a keeper is killed, its guardian ends the script and releases, also with an owner of its own") {
  RedisServer redis;
  for (const std::string owner : {"", "--owner w1 "}) {
    CAPTURE(owner);
    ShellScript script{redis, "owner=$(\"$RLOCK\" lock acquire k --lease 1m " + owner +
                                  "--while-pid $$) || exit\n: >$FOLDER/on\nexec sleep 60\n"};
    REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
    REQUIRE(redis.has("k"));
    ::kill(script.keeper(), SIGKILL);
    CHECK(script.process().exit_code() == 128 + SIGKILL);
    CHECK(eventually([&] { return !redis.has("k"); }, 5s));
  }
}

TEST_CASE("the guardian of a killed keeper leaves a key alone that the same --owner has acquired again") {
  RedisServer redis;
  ShellScript script{
      redis,
      "\"$RLOCK\" lock acquire a b --owner w1 --lease 1m --while-pid $$ || exit 9\n"
      "\"$RLOCK\" lock release a --owner w1 && \"$RLOCK\" lock acquire a --owner w1 --lease 1m || exit 8\n"
      ": >$FOLDER/on\nexec sleep 60\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 20s));
  ::kill(script.keeper(), SIGKILL);
  CHECK(script.process().exit_code() == 128 + SIGKILL);
  CHECK(eventually([&] { return !redis.has("b"); }, 10s));
  CHECK(redis.has("a"));
}

TEST_CASE(
    "if a keeper is killed before its release is confirmed, the guardian releases, and leaves a later hold") {
  RedisServer redis;
  for (const std::string owner : {"", "--owner w1 "}) {
    for (const auto lost : {TcpProxy::Way::to_server, TcpProxy::Way::to_client}) {
      CAPTURE(owner);
      CAPTURE(lost == TcpProxy::Way::to_server);
      TcpProxy proxy{redis.where()};
      ShellScript script{redis, "owner=$(\"$RLOCK\" -u " + proxy.url() + " lock acquire k --lease 10m " +
                                    owner +
                                    "--events $FOLDER/events --while-pid $$) || exit\n"
                                    ": >$FOLDER/on\nuntil [ -e $FOLDER/go ]; do sleep 0.01; done\n"};
      REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
      const pid_t keeper = script.keeper();
      const std::size_t before = proxy.bytes(TcpProxy::Way::to_server);
      proxy.drop(lost);
      write_file(script.folder() + "/go", "");
      REQUIRE(script.process().exit_code() == 0);
      const bool arrives = lost == TcpProxy::Way::to_client;
      REQUIRE(eventually([&] { return proxy.bytes(TcpProxy::Way::to_server) > before; }, 10s));
      if (arrives) REQUIRE(eventually([&] { return !redis.has("k"); }, 10s));
      ::kill(keeper, SIGSTOP);  // so that it cannot give its release up
      if (arrives) acquired(redis, "k", {"--owner", "w1"});
      proxy.pass();
      ::kill(keeper, SIGKILL);
      CHECK(eventually([&] { return script.process().family().empty(); }, 10s));
      CHECK(redis.has("k") == arrives);
      const std::string events = events_in(script.folder() + "/events");
      CHECK_MESSAGE((events.ends_with(" released") && events.find("released") == events.rfind("released")),
                    events);
      redis.cli({"FLUSHALL"});
    }
  }
}

TEST_CASE(
    "if a keeper is killed when its lease is over, the guardian leaves a later hold of the same owner") {
  RedisServer redis;
  TcpProxy proxy{redis.where()};
  ShellScript script{redis, "owner=$(\"$RLOCK\" -u " + proxy.url() +
                                " lock acquire k --lease 3s --owner w1 --while-pid $$) || exit\n"
                                ": >$FOLDER/on\nuntil [ -e $FOLDER/go ]; do sleep 0.01; done\n"};
  REQUIRE(eventually([&] { return ::access((script.folder() + "/on").c_str(), F_OK) == 0; }, 10s));
  const pid_t keeper = script.keeper();
  REQUIRE(keeper > 0);
  const std::size_t before = proxy.bytes(TcpProxy::Way::to_server);
  proxy.drop(TcpProxy::Way::to_server);
  write_file(script.folder() + "/go", "");
  REQUIRE(script.process().exit_code() == 0);
  REQUIRE(eventually([&] { return proxy.bytes(TcpProxy::Way::to_server) > before; }, 10s));
  ::kill(keeper, SIGSTOP);
  REQUIRE(eventually([&] { return !redis.has("k"); }, 10s));
  proxy.pass();
  acquired(redis, "k", {"--owner", "w1"});
  ::kill(keeper, SIGKILL);
  CHECK(eventually([&] { return script.process().family().empty(); }, 10s));
  CHECK(redis.has("k"));
}

TEST_CASE(
    "scripts, keepers and guardians are killed and stopped: no process is ever beside the next holder") {
  RedisServer redis;
  TempDir evidence;
  const int rounds = long_profile() ? 56 : 21;
  std::vector<Span> ends;
  for (int i = 0; i < rounds; ++i) {
    CAPTURE(i);
    Words witness = witness_command(evidence.path(), "for 60000");
    std::string command;
    for (const std::string& word : witness) command += " '" + word + "'";
    ShellScript script{
        redis,
        "owner=$(\"$RLOCK\" lock acquire k --lease 1500ms --while-pid $$) || exit\nexec" + command + "\n"};
    REQUIRE(eventually([&] { return judge(evidence.path()).holds == static_cast<std::size_t>(i + 1); }, 20s));
    REQUIRE(eventually([&] { return script.keeper() > 0 && script.guardian() > 0; }, 10s));
    const pid_t keeper = script.keeper(), guardian = script.guardian();
    bool by_end = false;
    switch (i % 7) {
      case 0:
        script.process().signal(SIGKILL);
        by_end = true;
        break;
      case 1: ::kill(keeper, SIGKILL); break;
      case 2: ::kill(keeper, SIGSTOP); break;
      case 3:  // a new guardian takes the place of the killed one
        ::kill(guardian, SIGKILL);
        REQUIRE(eventually(
            [&] {
              const pid_t present = script.guardian();  // it is read once, because two reads may differ
              return present > 0 && present != guardian;
            },
            5s));
        ::kill(keeper, SIGKILL);
        break;
      case 4: ::kill(keeper, SIGTERM); break;
      case 5:  // before the keeper is killed, it may continue its guardian
        ::kill(guardian, SIGSTOP);
        ::kill(keeper, SIGKILL);
        break;
      case 6:  // the keeper is stopped, so it cannot continue its guardian
        ::kill(keeper, SIGSTOP);
        ::kill(guardian, SIGSTOP);
        ::kill(keeper, SIGKILL);
        break;
    }
    const bool is_over = eventually([&] { return !script.process().running(); }, 10s);
    const std::string left = is_over ? "" : redis.keys() + output_of({"ps", "-eo", "pid,ppid,sid,stat,comm"});
    REQUIRE_MESSAGE(is_over, left);
    const auto ended = std::chrono::steady_clock::now();
    if (i % 7 == 2) {
      ::kill(keeper, SIGCONT);
    } else {
      REQUIRE(eventually([&] { return !redis.has("k"); }, 10s));
      if (by_end) ends.push_back(std::chrono::duration_cast<Span>(std::chrono::steady_clock::now() - ended));
    }
    REQUIRE(eventually([&] { return script.process().family().empty(); }, 10s));
  }
  const Verdict verdict = judge(evidence.path());
  CHECK_MESSAGE(verdict.clean(), verdict.str());
  const std::string text = figures(ends);
  MESSAGE("free after the end of the script: " << text << "; " << verdict.str());
  CHECK_MESSAGE(median(ends) < 100ms, text);
}
