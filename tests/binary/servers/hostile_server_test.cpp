// A server that sends much, or without end: rlock's memory stays small, rlock ends as documented, and it
// sends no more requests than it must.

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/fake_redis.h"
#include "support/profile.h"

using namespace rlock::test;

namespace {

const std::set<int> kStatusesOfVerbs{0, 1, 65, 69, 70, 75, 77, 78};

std::string times(int count, const std::string& text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

/// Bytes that a server sends without end.
struct Flood {
  std::string what, first, rest;
};

const std::vector<Flood> kFloods{
    {"announcements", "", wire::message("c", std::string(1000, 'x'))},
    {"announcements for the key's channel", "",
     wire::message("redisson_lock__channel:{k}", std::string(1000, 'x'))},
    {"arrays in each other", "", "*100000\r\n"},
    {"pushes in each other", "", ">100000\r\n"},
    {"an array of numbers", "*2147483647\r\n", ":1\r\n"},
    {"an array of nothing", "*2147483647\r\n", "$-1\r\n"},
    {"an array of short texts", "*2147483647\r\n", "$1\r\nx\r\n"},
    {"arrays of a few", "*2147483647\r\n", "*3\r\n:1\r\n:1\r\n:1\r\n"},
    {"a push of numbers", ">2147483647\r\n", ":1\r\n"},
    {"a map", "%1000000000\r\n", "+a\r\n:1\r\n"},
    {"attributes", "", "|1\r\n+a\r\n:1\r\n"},
    {"a long text", "$536870911\r\n", std::string(1000, 'x')},
    {"a line that does not end", "+", std::string(1000, 'x')},
    {"an error that does not end", "-ERR ", std::string(1000, 'x')},
    {"answers to nothing", "", ":1\r\n"},
    {"zeros", "", std::string(1000, '\0')},
};

/// A command line that soon ends by itself, and the Redis commands that it sends.
struct Sender {
  Words words;
  std::vector<std::string> commands;
  std::string scheme = "";
};

const std::vector<Sender> kSenders{
    {{"run", "-n", "-k", "k", "--", "true"}, {"HELLO", "EVALSHA"}},
    {{"run", "-w", "1s", "-k", "k", "--", "true"}, {"EVALSHA", "SUBSCRIBE"}},
    {{"inspect", "k"}, {"EVALSHA"}},
    {{"inspect"}, {"SCAN"}},
    {{"doctor"}, {"INFO", "PING"}},
    {{"run", "-n", "-k", "k", "--", "true"}, {"CLUSTER"}, "redis+cluster://"},
    {{"run", "-n", "-k", "k", "--", "true"}, {"SENTINEL"}, "redis+sentinel://"},
};

Rlock run_at(const FakeRedis& server, const Sender& sender, const Words& more = {}) {
  Process::Options options = Rlock::clean_environment();
  const std::string place = "127.0.0.1:" + std::to_string(server.port());
  options.env["RLOCK_URL"] = sender.scheme.empty()
                                 ? "redis://" + place
                                 : sender.scheme + place + (contains(sender.scheme, "sentinel") ? "/m" : "");
  Words words = sender.words;
  words.insert(words.begin() + 1, {"--command-timeout", "500ms", "--connect-timeout", "500ms"});
  words.insert(words.begin() + 1, more.begin(), more.end());
  return Rlock{words, options};
}

/// A server that floods, and the rlock that reads it.
struct Meeting {
  std::unique_ptr<FakeRedis> server;
  Rlock rlock;
};

void expect_small(Rlock& rlock) {
  const int status = rlock.exit_code(60s);
  CAPTURE(rlock.err());
  CHECK(kStatusesOfVerbs.contains(status));
  CHECK(rlock.peak_bytes() <= kMostMemory);
  CHECK_FALSE(contains(rlock.err(), "internal error"));
}

}  // namespace

TEST_CASE("rlock uses at most 64 MiB if a server sends without end") {
  for (const Sender& sender : kSenders) {
    if (kSanitized && !long_profile() && !sender.scheme.empty())
      continue;  // the same code reads these
                 // schemes
    for (const std::string& command : sender.commands) {
      CAPTURE(sender.words[0]);
      CAPTURE(command);
      std::vector<Meeting> meetings;
      for (const Flood& flood : kFloods) {
        auto server = std::make_unique<FakeRedis>(FakeRedis::Transport::tcp);
        if (command == "SUBSCRIBE")  // the lock is busy, so that rlock listens
          server->on("EVALSHA", wire::array({wire::text("busy"), wire::integer(5000), wire::nil()}));
        server->on(command, wire::endless(flood.first, flood.rest));
        Rlock rlock = run_at(*server, sender);
        meetings.push_back({std::move(server), std::move(rlock)});
      }
      for (std::size_t i = 0; i < meetings.size(); ++i) {
        CAPTURE(kFloods[i].what);
        expect_small(meetings[i].rlock);
      }
    }
  }
}

TEST_CASE("rlock uses at most 64 MiB if a server sends without end before it is asked") {
  for (const Flood& flood : kFloods) {
    CAPTURE(flood.what);
    FakeRedis server{FakeRedis::Transport::tcp};
    server.greet_with(wire::endless(flood.first, flood.rest));
    Rlock rlock = run_at(server, kSenders.front());
    expect_small(rlock);
  }
}

TEST_CASE("answers that break off leave nothing behind, however many connections they take") {
  std::vector<Meeting> meetings;
  for (const std::string& part : {"$8000000\r\n" + std::string(7'999'999, 'x'),
                                  "*90000\r\n" + times(89'999, ":1\r\n"), times(60, "*1000\r\n")}) {
    auto server = std::make_unique<FakeRedis>(FakeRedis::Transport::tcp);
    server->on("EVALSHA", part);
    Rlock rlock = run_at(*server, {{"run", "-w", "4s", "-k", "k", "--", "true"}, {}}, {"--lease", "2s"});
    meetings.push_back({std::move(server), std::move(rlock)});
  }
  for (Meeting& meeting : meetings) {
    expect_small(meeting.rlock);
    CHECK(meeting.server->connections() > 1);
  }
}

TEST_CASE("an endless search keeps 8 MiB of names, and reports that it was cut short") {
  FakeRedis server{FakeRedis::Transport::tcp};
  server.decide([count = 0](const Words& command) mutable -> std::optional<std::string> {
    if (command.front() == "EVALSHA" && command.back() == "any")  // does each of these keys exist?
      return wire::array(std::vector(std::stoul(command.at(2)), wire::text("none")));
    if (command.front() != "SCAN") return std::nullopt;
    std::vector<std::string> names;
    for (int i = 0; i < 1000; ++i)
      names.push_back(wire::text("rlock:meta:{" + std::to_string(++count) + std::string(1000, 'k') + "}"));
    return wire::array({wire::text("1"), wire::array(names)});
  });
  const std::string none = wire::array({});
  server.on("EVALSHA", wire::array({wire::integer(1), wire::text("none"), wire::integer(-2), none, none, none,
                                    none, none, none, none, wire::integer(0), wire::integer(0),
                                    none}));  // the key does not exist
  server.on("PUBSUB", none);
  Rlock rlock = run_at(server, {{"inspect", "-q"}, {}});
  expect_small(rlock);
  CAPTURE(rlock.err());
  const bool in_time = !kSanitized;  // under sanitizers, the 10 s of a search may end first
  CHECK(contains(rlock.err(), in_time ? "cut short: there are too many keys" : "cut short"));
}

TEST_CASE("a flood on the channel of a lock makes its waiters ask no more than 25 times a second") {
  FakeRedis server{FakeRedis::Transport::tcp};
  server.on("EVALSHA", wire::array({wire::text("busy"), wire::integer(60'000), wire::nil()}));
  Rlock rlock = run_at(server, {{"run", "-q", "-w", "3s", "-k", "k", "--", "true"}, {}});
  REQUIRE(eventually([&] { return server.count("SUBSCRIBE") == 1; }));
  while (rlock.running()) {
    server.announce(wire::message("redisson_lock__channel:{k}", "0"));
    std::this_thread::sleep_for(1ms);
  }
  CHECK(rlock.exit_code() == 75);
  const std::size_t attempts = server.count("EVALSHA") / 2;  // an acquire, and the write of the waiter's
                                                             // facts
  CHECK(attempts >= 20);                                     // the first attempts follow each other at once
  CHECK(attempts <= 100 + 3 * 25 + 10);                      // and the calls at the end of the wait
}
