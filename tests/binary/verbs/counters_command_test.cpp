// rlock sem, permit and latch in scripts: their exit statuses and their output.

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"
#include "support/started.h"

using namespace rlock;
using namespace rlock::test;

namespace {

using namespace std::chrono_literals;

/// One command line of a story, with its expected exit status and output. `out` nullopt: any output.
struct Step {
  std::string line;
  int status;
  std::optional<std::string> out = std::nullopt;
};

void tell(const RedisServer& redis, const std::vector<Step>& story) {
  for (const Step& step : story) {
    CAPTURE(step.line);
    Rlock rlock{split(step.line, ' '), redis.environment()};
    CHECK(rlock.exit_code() == step.status);
    if (step.out) CHECK(rlock.out() == *step.out);
    if (step.status >= 64) CHECK(rlock.err().starts_with("rlock: "));
  }
}

/// The lines of the command's output.
Words lines_said(const RedisServer& redis, const std::string& line) {
  Rlock rlock{split(line, ' '), redis.environment()};
  REQUIRE(rlock.exit_code() == 0);
  Words lines = split(rlock.out(), '\n');
  lines.pop_back();
  return lines;
}

}  // namespace

TEST_CASE("if a pool has 0 permits, the message says that, with the remedy, and not that all are taken") {
  RedisServer redis;
  tell(redis, {{"permit set seats 0", 0, ""}});
  for (const Words& words : {Words{"permit", "acquire", "seats", "--lease", "1m", "-n"},
                             {"permit", "acquire", "seats", "--lease", "1m", "-w2s"},
                             {"run", "-k", "seats", "--count", "1", "-n", "--", "true"}}) {
    Rlock acquire{words, redis.environment()};
    CHECK(acquire.exit_code() == 75);
    const std::string said = acquire.err();
    CHECK_MESSAGE(contains(said, "'seats': the pool has 0 permits"), said);
    CHECK_MESSAGE(said.ends_with("\nrlock: to make the pool larger: rlock permit set seats N\n"), said);
    CHECK_FALSE(contains(said, "taken"));
  }
}

TEST_CASE("a semaphore from its making to its end") {
  RedisServer redis;
  tell(redis, {
                  {"sem acquire slots -n", 1, ""},
                  {"sem release slots", 1, ""},
                  {"sem add slots 1", 1, ""},
                  {"sem drain slots", 1, ""},
                  {"sem delete slots", 1, ""},
                  {"sem status slots", 1, "slots: nothing there\n"},
                  {"sem init slots 3", 0, ""},
                  {"sem init slots 4", 1, ""},
                  {"sem status -k slots", 0, "slots: 3 available\n"},
                  {"sem acquire slots -n --count 2", 0, ""},
                  {"sem acquire slots -n --count 2", 75, ""},
                  {"sem acquire slots -nE3 --count 2", 3, ""},
                  {"sem acquire slots -w 2s --count 2", 75, ""},
                  {"sem release slots --count 2", 0, ""},
                  {"sem add slots 4", 0, ""},
                  {"sem drain slots", 0, "7\n"},
                  {"sem status slots --json", 0,
                   R"({"v":1,"key":"slots","name":"slots","exists":true,"available":0,"total":null})"
                   "\n"},
                  {"sem delete --yes slots", 0, ""},
              });
}

TEST_CASE("with --json an acquire prints one document") {
  RedisServer redis;
  tell(redis,
       {{"sem init slots 3", 0, ""},
        {"sem drain slots --json", 0, "{\"v\":1,\"key\":\"slots\",\"name\":\"slots\",\"drained\":3}\n"},
        {"permit init seats 2", 0, ""}});
  const Words lines = lines_said(redis, "permit acquire seats --count 2 --lease 1m --json");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].starts_with("{\"v\":1,\"key\":\"seats\",\"name\":\"seats\",\"ids\":[\""));
  CHECK(contains(lines[0], "\"lease_ms\":60000"));
  tell(redis, {{"permit release seats " + lines[0].substr(lines[0].find("[\"") + 2, 32), 0}});
}

TEST_CASE("a release of a semaphore wakes its waiters") {
  RedisServer redis;
  redis.cli({"SET", "slots", "0"});
  Rlock waiter = redis.rlock("sem", "acquire", "slots");
  REQUIRE(eventually([&] { return redis.listeners("redisson_sc:{slots}") == 1; }));
  tell(redis, {{"sem release slots", 0, ""}});
  CHECK(waiter.exit_code() == 0);
  CHECK(redis.cli({"GET", "slots"}) == "0");
}

TEST_CASE("a pool of permits from its making to its end") {
  RedisServer redis;
  tell(redis, {
                  {"permit acquire seats -n --lease 1m", 1, ""},
                  {"permit add seats 1", 1, ""},
                  {"permit delete seats", 1, ""},
                  {"permit status seats", 1, "seats: nothing there\n"},
                  {"permit acquire seats -n", 64, ""},
                  {"permit init seats 2", 0, ""},
                  {"permit init seats 2", 1, ""},
              });
  const Words ids = lines_said(redis, "permit acquire seats --lease 1m --count 2");
  REQUIRE(ids.size() == 2);
  tell(redis, {
                  {"permit acquire seats -n --lease 1m", 75, ""},
                  {"permit status seats", 0, "seats: 0 of 2 available\n"},
                  {"permit renew seats " + ids[0], 0, ""},
                  {"permit renew seats " + ids[0] + " " + ids[1] + " --lease 2m", 0, ""},
                  {"permit release seats " + ids[0], 0, ""},
                  {"permit release seats " + ids[0], 1, ""},
                  {"permit renew seats " + ids[1], 0, ""},
                  {"permit renew seats " + ids[0] + " --lease 1m", 1, ""},
                  {"permit renew seats " + ids[0], 1, ""},
                  {"permit renew seats " + ids[0] + " " + ids[1], 1, ""},
                  {"permit renew nothing " + ids[0], 1, ""},
                  {"permit release seats " + ids[0] + " " + ids[1], 1, ""},
                  {"permit release seats not-an-id", 64, ""},
                  {"permit renew seats " + ids[0] + " not-an-id --lease 1m", 64, ""},
                  {"permit release seats", 64, ""},
                  {"permit status seats --json", 0,
                   R"({"v":1,"key":"seats","name":"seats","exists":true,"available":2,"total":2})"
                   "\n"},
              });
  Rlock gone = redis.rlock("permit", "release", "seats", ids[0]);
  CHECK(gone.exit_code() == 1);
  CHECK(gone.err() ==
        "rlock: no client holds permit " + ids[0] + " of 'seats' any more; see: rlock inspect seats\n");
  tell(redis, {{"permit delete seats", 0, ""}});
}

TEST_CASE("permit set gives a pool another size, upwards and downwards") {
  RedisServer redis;
  tell(redis, {{"permit set seats 2", 0, ""}, {"permit status seats", 0, "seats: 2 of 2 available\n"}});
  const Words ids = lines_said(redis, "permit acquire seats --lease 1m --count 2");
  Rlock waiter = redis.rlock("permit", "acquire", "seats", "--lease", "1m");
  REQUIRE(eventually([&] { return redis.listeners("redisson_sc:{seats}") == 1; }));
  tell(redis, {{"permit set seats 3", 0, ""}});
  CHECK(waiter.exit_code() == 0);
  tell(redis, {{"permit set seats 1", 0, ""},
               {"permit status seats", 0, "seats: 0 of 1 available, 2 too many taken\n"},
               {"sem init few 1", 0, ""},
               {"sem add few -- -3", 0, ""},
               {"sem status few", 0, "few: 0 available, 2 too many taken\n"},
               {"inspect few", 0, "few           semaphore, 0 available, 2 too many taken\n"},
               {"permit release seats " + ids[0] + " " + ids[1], 0},
               {"permit acquire seats -n --lease 1m", 75},
               {"permit set seats 0", 0, ""},
               {"permit add seats 3", 0, ""},
               {"permit add seats -- -1", 0, ""},
               {"permit status seats", 0, "seats: 1 of 2 available\n"},
               {"permit set none 0", 0, ""},
               {"permit add none -- -2", 0, ""},
               {"permit status none", 0, "none: 0 of -2 available\n"},
               {"permit set seats -- -1", 64, ""},
               {"permit set seats", 64, ""}});
  redis.cli({"HSET", "other", "x", "1"});
  tell(redis, {{"permit set other 1", 65, ""}});
}

TEST_CASE("a permit whose lease is not known is named as such, and the others are renewed") {
  RedisServer redis;
  tell(redis, {{"permit init seats 2", 0, ""}});
  const std::string unknown = lines_said(redis, "permit acquire seats --lease 1m").front();
  redis.del("rlock:meta:{seats}");
  const std::string id = lines_said(redis, "permit acquire seats --lease 1h").front();
  tell(redis, {{"permit renew seats --lease 10m " + id, 0, ""}});
  Rlock renewal = redis.rlock("permit", "renew", "seats", unknown, id);
  CHECK(renewal.exit_code() == 64);
  CHECK(renewal.err() == "rlock: --lease is missing: rlock finds no note of the lease before\n");
  tell(redis, {{"permit status seats --id " + id, 0, "seats: " + id + " ends in 1h\n"}});
}

TEST_CASE("a renewed permit keeps its facts and its slot, so that it can be renewed again and again") {
  RedisServer redis;
  tell(redis, {{"permit init seats 2", 0, ""}});
  const std::string id = lines_said(redis, "permit acquire seats --lease 10m").front();
  for (const char* key : {"rlock:meta:{seats}", "redisson_unlock_latch:{seats}:slots"}) {
    CAPTURE(key);
    redis.cli({"PEXPIRE", key, "9000"});  // as if the lease were about to end
    tell(redis, {{"permit renew seats " + id, 0, ""}});
    CHECK(redis.pttl(key) > 60000);
    redis.cli({"PEXPIRE", key, "9000"});
    tell(redis, {{"permit renew seats " + id + " --lease 1h", 0, ""}});
    CHECK(redis.pttl(key) > 600000);
    tell(redis, {{"permit renew seats " + id, 0, ""},
                 {"permit status seats --id " + id, 0, "seats: " + id + " ends in 10m\n"}});
  }
}

TEST_CASE("a permit without a lease is shown as one, and stays until it is given back by its id") {
  RedisServer redis;
  tell(redis, {{"permit init seats 2", 0, ""},
               {"permit acquire seats --lease 1m --no-lease", 64, ""},
               {"permit acquire seats", 64, ""}});
  const std::string id = lines_said(redis, "permit acquire seats --no-lease").front();
  const Words document = lines_said(redis, "permit acquire seats --no-lease --json");
  CHECK(contains(document[0], "\"lease_ms\":null"));
  tell(redis, {{"permit status seats --id " + id, 0, "seats: " + id + " never ends\n"},
               {"permit status seats --json --id " + id, 0,
                R"({"v":1,"key":"seats","name":"seats","exists":true,"available":0,"total":2,"id":")" + id +
                    R"(","ttl_ms":-1})"
                    "\n"},
               {"permit renew seats " + id + " --lease 1h", 0, ""},
               {"permit status seats --id " + id, 0, "seats: " + id + " ends in 1h\n"},
               {"permit renew seats " + id, 0, ""},
               {"permit status seats --id " + id, 0, "seats: " + id + " never ends\n"}});
  const Words seen = lines_said(redis, "inspect --json seats");
  CHECK(contains(seen[0], "\"stale\":false"));
  CHECK(contains(seen[0], "\"lease_ms\":0"));
  CHECK(lines_said(redis, "inspect seats")[2].ends_with("no lease: it never ends"));
  tell(redis, {{"list --state held -q", 0, "seats\n"},
               {"permit release seats " + id, 0, ""},
               {"permit status seats --id " + id, 1, "seats: " + id + " is not taken\n"},
               {"permit status seats -q --id " + id, 1, ""},
               {"permit status nothing --id " + id, 1, "nothing: nothing there\n"},
               {"permit status seats --id not-an-id", 64, ""}});
  Rlock malformed = redis.rlock("permit", "status", "seats", "--id", "zz");
  CHECK(malformed.exit_code() == 64);
  CHECK(
      malformed.err() ==
      "rlock: --id: 'zz' is no permit id; expected 32 hexadecimal digits, as rlock permit acquire and rlock inspect "
      "-v print them\n");
}

TEST_CASE("nothing is left of a pool that was deleted, and of permits that were released") {
  RedisServer redis;
  const std::string notes = "rlock:meta:{seats}";
  tell(redis, {{"permit init seats 2", 0, ""}});
  const std::string first = lines_said(redis, "permit acquire seats --no-lease").front();
  const std::string second = lines_said(redis, "permit acquire seats --no-lease").front();
  REQUIRE(redis.has(notes));
  tell(redis, {{"permit release seats " + first, 0, ""}});
  CHECK(redis.has(notes));
  tell(redis, {{"permit release seats " + second, 0, ""}});
  CHECK(eventually([&] { return !redis.has(notes); }));
  lines_said(redis, "permit acquire seats --no-lease");
  REQUIRE(redis.has(notes));
  tell(redis, {{"permit delete --yes seats", 0, ""}});
  CHECK(eventually([&] { return !redis.has(notes); }));
  tell(redis, {{"list", 1, ""}});
}

TEST_CASE("renew without --lease gives each permit its own lease again, and none to one that has none") {
  RedisServer redis;
  tell(redis, {{"permit init seats 3", 0, ""}});
  const std::string never = lines_said(redis, "permit acquire seats --no-lease").front();
  const std::string hour = lines_said(redis, "permit acquire seats --lease 1h").front();
  const std::string day = lines_said(redis, "permit acquire seats --lease 24h").front();
  const std::string gone(32, '0');
  tell(redis, {{"permit renew seats " + hour + " " + day + " --lease 1m", 0, ""},
               {"permit renew seats " + never + " " + hour + " " + day, 0, ""},
               {"permit status seats --id " + never, 0, "seats: " + never + " never ends\n"},
               {"permit renew seats " + hour + " " + gone + " " + never, 1, ""},
               {"permit status seats --id " + never, 0, "seats: " + never + " never ends\n"}});
  for (const auto& [id, least] : {std::pair{hour, 3'000'000}, std::pair{day, 80'000'000}}) {
    const auto status =
        nlohmann::json::parse(lines_said(redis, "permit status seats --json --id " + id).front());
    CHECK(status["ttl_ms"] > least);
    CHECK(status["ttl_ms"] < least * 2);
  }
}

TEST_CASE("the rest of a permit's lease is shown by its id") {
  RedisServer redis;
  tell(redis, {{"permit init seats 2", 0, ""}});
  const std::string id = lines_said(redis, "permit acquire seats --lease 1h").front();
  const Words rest = lines_said(redis, "permit status seats --id " + id);
  CHECK_MESSAGE(rest[0].starts_with("seats: " + id + " ends in "), rest[0]);
}

TEST_CASE("an expired permit is there for the next caller") {
  RedisServer redis;
  tell(redis, {{"permit init seats 1", 0, ""}});
  lines_said(redis, "permit acquire seats --lease 300ms");
  CHECK(lines_said(redis, "permit acquire seats --lease 1m").size() == 1);
}

TEST_CASE("a latch from its setting to its end") {
  RedisServer redis;
  tell(redis, {
                  {"latch wait built", 1, ""},
                  {"latch wait built --absent-ok", 0, ""},
                  {"latch wait built --absent-ok --await-set", 64, ""},
                  {"latch wait built --await-set -n", 75, ""},
                  {"latch down built", 1, ""},
                  {"latch delete built", 1, ""},
                  {"latch status built", 1, "built: unknown\n"},
                  {"latch set built 3", 0, ""},
                  {"latch set built 2", 1, ""},
                  {"latch wait built -n", 75, ""},
                  {"latch status built", 1, "built: closed, 3 to go\n"},
                  {"latch down built --by 2", 0, ""},
                  {"latch down built", 0, ""},
                  {"latch wait built", 0, ""},
                  {"latch status built", 0, "built: open\n"},
                  {"latch down built", 1, ""},
                  {"latch set built 1 --expire 1m", 0, ""},
                  {"latch status built", 1, "built: closed, 1 to go\n"},
                  {"latch delete built", 0, ""},
                  {"latch status built", 1, "built: unknown\n"},
              });
}

TEST_CASE("--await-set counts a latch as opened until its note is deleted, although there is no latch") {
  RedisServer redis;
  tell(redis, {
                  {"latch set built 1", 0, ""},
                  {"latch down built", 0, ""},
                  {"latch wait built --await-set", 0, ""},
                  {"latch delete built", 1, ""},
                  {"latch wait built --await-set -n", 75, ""},
              });
}

TEST_CASE("a latch that is open already is not called missing") {
  RedisServer redis;
  tell(redis, {{"latch set built 1", 0, ""}, {"latch down built", 0, ""}});
  Rlock down = redis.rlock("latch", "down", "built");
  CHECK(down.exit_code() == 1);
  CHECK(down.err() == "rlock: the latch 'built' is open already\n");
  Rlock removal = redis.rlock("latch", "delete", "built");
  CHECK(removal.exit_code() == 1);
  CHECK(removal.err() == "rlock: there is no latch 'built'; if there was a note of one, it is deleted\n");
}

TEST_CASE("delete of a key that is no latch leaves the notes of its holder") {
  RedisServer redis;
  tell(redis, {{"lock acquire k --owner latch --lease 1m", 0}, {"latch delete k", 65, ""}});
  CHECK(redis.cli({"HEXISTS", "rlock:meta:{k}", "latch"}) == "1");
}

TEST_CASE("the last count of a latch wakes its waiters, and --await-set also waits for the setting") {
  RedisServer redis;
  Rlock early = redis.rlock("latch", "wait", "built", "--await-set");
  REQUIRE(eventually([&] { return redis.listeners("redisson_countdownlatch__channel__{built}") == 1; }));
  tell(redis, {{"latch set built 1", 0, ""}});
  Rlock late = redis.rlock("latch", "wait", "built");
  REQUIRE(eventually([&] { return redis.listeners("redisson_countdownlatch__channel__{built}") == 2; }));
  tell(redis, {{"latch down built", 0, ""}});
  CHECK(early.exit_code() == 0);
  CHECK(late.exit_code() == 0);
}

TEST_CASE("inspect shows the waiters of a latch until it opens or they give up") {
  RedisServer redis;
  const auto waiters = [&] {
    Rlock inspect = redis.rlock("inspect", "built", "--json");
    CHECK(inspect.exit_code() == 0);
    return nlohmann::json::parse(inspect.out()).at("keys").at(0).at("waiters");
  };
  const auto line = [&] { return redis.cli({"ZCARD", "redisson_unlock_latch:{built}:line"}); };
  Rlock early = redis.rlock("latch", "wait", "-q", "built", "--await-set");
  REQUIRE(eventually([&] { return line() == "1"; }, 10s));
  CHECK(status_of(redis, {"latch", "set", "built", "1"}) == 0);
  Rlock late = redis.rlock("latch", "wait", "-q", "built");
  Rlock impatient = redis.rlock("latch", "wait", "-q", "built");
  REQUIRE(eventually([&] { return line() == "3"; }, 10s));
  REQUIRE(eventually([&] { return waiters().size() == 3 && !waiters().at(2).at("meta").is_null(); }, 10s));
  CHECK(waiters().at(0).at("meta").at("host") == waiters().at(2).at("meta").at("host"));
  Rlock seen = redis.rlock("inspect", "built");
  CHECK(seen.exit_code() == 0);
  CHECK_MESSAGE(contains(seen.out(), "3 wait"), seen.out());

  impatient.signal(SIGTERM);
  CHECK(impatient.exit_code() == 143);
  REQUIRE(eventually([&] { return line() == "2"; }, 10s));
  CHECK(status_of(redis, {"latch", "down", "built"}) == 0);
  CHECK(early.exit_code(20s) == 0);
  CHECK(late.exit_code(20s) == 0);
  CHECK(line() == "0");
}

TEST_CASE("inspect shows the waiters of a pool, and the first of them gets what comes back") {
  RedisServer redis;
  CHECK(status_of(redis, {"permit", "init", "seats", "1"}) == 0);
  Rlock holder = redis.rlock("permit", "acquire", "seats", "--lease", "1h");
  REQUIRE(holder.exit_code() == 0);
  const std::string id = holder.out().substr(0, 32);
  const auto wait_in_line = [&](const std::string& place) {
    Rlock waiter = redis.rlock("permit", "acquire", "-q", "seats", "--lease", "1h");
    REQUIRE(
        eventually([&] { return redis.cli({"ZCARD", "redisson_unlock_latch:{seats}:line"}) == place; }, 10s));
    return waiter;
  };
  Rlock first = wait_in_line("1");
  Rlock second = wait_in_line("2");
  Rlock inspect = redis.rlock("inspect", "seats", "--json");
  CHECK(inspect.exit_code() == 0);
  CHECK(nlohmann::json::parse(inspect.out()).at("keys").at(0).at("waiters").size() == 2);
  Rlock late = redis.rlock("run", "-k", "seats", "--permits", "1", "--queue-limit", "2", "--", "true");
  CHECK(late.exit_code() == 75);

  CHECK(status_of(redis, {"permit", "release", "seats", id}) == 0);
  CHECK(first.exit_code(20s) == 0);
  CHECK(second.running());
}

TEST_CASE("without rights to record a waiter, rlock still waits for a latch") {
  RedisServer redis;
  CHECK(status_of(redis, {"latch", "set", "built", "1"}) == 0);
  redis.cli({"SET", "redisson_unlock_latch:{built}:line", "no line"});
  Rlock waiter = redis.rlock("latch", "wait", "-q", "built");
  REQUIRE(eventually([&] { return redis.listeners("redisson_countdownlatch__channel__{built}") == 1; }, 10s));
  CHECK(status_of(redis, {"latch", "down", "built"}) == 0);
  CHECK(waiter.exit_code(20s) == 0);
}

TEST_CASE("--await-set waits until Redisson has set and opened a latch, and records nothing about it") {
  RedisServer redis;
  const std::string channel = "redisson_countdownlatch__channel__{built}";
  Rlock early = redis.rlock("latch", "wait", "built", "--await-set");
  REQUIRE(eventually([&] { return redis.listeners(channel) == 1; }));
  redis.cli({"SET", "built", "1"});
  Monitor monitor{redis};
  redis.cli({"PUBLISH", channel, "1"});
  REQUIRE(eventually([&] {  // the waiter has asked, and has heard that the latch is closed
    return std::ranges::any_of(monitor.commands(),
                               [](const auto& line) { return line.starts_with("\"EVALSHA"); });
  }));
  redis.del("built");
  redis.cli({"PUBLISH", channel, "0"});
  CHECK(early.exit_code() == 0);
}

TEST_CASE("a wait does not outlast its limit, even if the server is frozen") {
  RedisServer redis;
  redis.freeze();
  for (const char* line : {"sem acquire -k k", "permit acquire -k k --lease 1m", "latch wait -k k",
                           "run --permits 2 -k k -c true"}) {
    CAPTURE(line);
    Words words = split(line, ' ');
    const auto verb_end = words.begin() + (words.front() == "run" ? 1 : 2);
    const Words patience{"-w", "300ms", "--connect-timeout", "10m", "--command-timeout", "10m"};
    words.insert(verb_end, patience.begin(), patience.end());
    Rlock rlock{words, redis.environment()};
    CHECK(rlock.exit_code(60s) == 69);
  }
  redis.thaw();
}

TEST_CASE("a waiter for a latch goes on when the server returns, until there is a latch") {
  RedisServer redis;
  redis.kill();
  Rlock wait{split("latch wait built -w 10m --connect-timeout 1s --command-timeout 1s", ' '),
             redis.environment()};
  REQUIRE(eventually([&] { return contains(wait.err(), "waiting for redis"); }, 30s));
  redis.restart();
  CHECK(wait.exit_code(60s) == 1);
  CHECK(contains(wait.err(), "there is no latch 'built', and no note that it was opened"));
}

TEST_CASE("a latch that the server has lost during the wait has not opened") {
  RedisServer redis;
  const std::string channel = "redisson_countdownlatch__channel__{built}";
  tell(redis, {{"latch set built 1", 0, ""}});
  Rlock wait = redis.rlock("latch", "wait", "-q", "built", "-w", "10m");
  Rlock any = redis.rlock("latch", "wait", "-q", "built", "--absent-ok", "-w", "10m");
  Rlock next = redis.rlock("latch", "wait", "-q", "built", "--await-set", "-w", "10m");
  REQUIRE(eventually([&] { return redis.listeners(channel) == 3; }));
  redis.kill();
  redis.restart();
  CHECK(wait.exit_code(60s) == 1);
  CHECK(any.exit_code(60s) == 0);
  REQUIRE(eventually([&] { return redis.listeners(channel) == 1; }, 30s));
  tell(redis, {{"latch set built 1", 0, ""}, {"latch down built", 0, ""}});
  CHECK(next.exit_code(60s) == 0);
}

TEST_CASE("a latch that opens while its waiter has no connection has opened, according to the note") {
  RedisServer redis;
  tell(redis, {{"latch set built 1", 0, ""}});
  Rlock wait = redis.rlock("latch", "wait", "-q", "built", "-w", "10m");
  REQUIRE(eventually([&] { return redis.listeners("redisson_countdownlatch__channel__{built}") == 1; }));
  wait.signal(SIGSTOP);
  redis.cli({"CLIENT", "KILL", "TYPE", "pubsub"});
  redis.cli({"CLIENT", "KILL", "TYPE", "normal"});
  tell(redis, {{"latch down built", 0, ""}});
  wait.signal(SIGCONT);
  CHECK(wait.exit_code(60s) == 0);
}

TEST_CASE("another type under the key is 65 for every verb that looks") {
  RedisServer redis;
  redis.cli({"RPUSH", "list", "x"});
  for (const std::string line :
       {"sem init list 1", "sem acquire list -n", "sem release list", "sem add list 1", "sem drain list",
        "sem status list", "sem delete list", "permit init list 1", "permit acquire list -n --lease 1m",
        "permit add list 1", "permit status list", "permit delete list", "latch set list 1",
        "latch down list", "latch wait list", "latch status list", "latch delete list"})
    tell(redis, {{line, 65, ""}});
  const std::string id(32, 'a');
  for (const std::string& line :
       {"permit release list " + id, "permit renew list " + id, "permit renew list " + id + " --lease 1m"})
    tell(redis, {{line, 65, ""}});
  CHECK(redis.cli({"LRANGE", "list", "0", "-1"}) == "x");
}

TEST_CASE("a latch is neither a semaphore nor a pool: 65, and it is not counted down") {
  RedisServer redis;
  tell(redis, {{"latch set gate 3", 0, ""}});
  for (const std::string line :
       {"sem init gate 3", "sem acquire gate -n", "sem release gate", "sem add gate 1", "sem drain gate",
        "sem status gate", "sem delete gate", "permit init gate 3", "permit acquire gate -n --lease 1m",
        "permit add gate 1", "permit status gate", "permit delete gate"})
    tell(redis, {{line, 65, ""}});
  CHECK(redis.cli({"GET", "gate"}) == "3");

  tell(redis, {{"permit init seats 2", 0, ""}, {"permit acquire seats --lease 1h -q", 0, std::nullopt}});
  for (const std::string line :
       {"latch down seats", "latch down seats --by 5", "latch delete seats", "latch set seats 3"})
    tell(redis, {{line, 65, ""}});
  CHECK(redis.cli({"GET", "seats"}) == "1");

  // The records of a deleted latch do not stop other kinds from using its name.
  redis.del("gate");
  tell(redis, {{"sem acquire gate -n", 1, ""}, {"latch set gate 1", 0, ""}, {"latch down gate", 0, ""}});
  tell(redis, {{"sem init gate 2", 0, ""}, {"sem acquire gate -n", 0, ""}});
}

TEST_CASE("messages name the key as it is typed, and a remedy reaches it in the same environment") {
  RedisServer redis;
  auto options = redis.environment();
  options.env["RLOCK_PREFIX"] = "app:";
  const auto message = [&](const std::string& line) {
    Rlock rlock{split(line, ' '), options};
    CHECK(rlock.exit_code() == 1);
    return rlock.err();
  };
  const std::string id(32, 'a');
  CHECK(message("latch down l") ==
        "rlock: there is no latch 'l'; to create it: rlock latch set --prefix app: l N\n");
  CHECK(message("latch wait l").starts_with("rlock: there is no latch 'l', and no note that it was opened"));
  REQUIRE(Rlock{{"permit", "init", "p", "1"}, options}.exit_code() == 0);
  CHECK(message("permit init p 1") ==
        "rlock: 'p' exists, and stays as it is; see: rlock permit status --prefix app: p\n");
  CHECK(message("permit release p " + id) ==
        "rlock: no client holds permit " + id + " of 'p' any more; see: rlock inspect --prefix app: p\n");
}

TEST_CASE("more permits than the pool has are refused at once, and not waited for") {
  RedisServer redis;
  tell(redis, {{"permit init seats 3", 0, ""}});
  const std::string reason =
      "rlock: the pool 'seats' has 3 permits, fewer than --count 9; ask for fewer, or make the pool larger: "
      "rlock permit add seats 6\n";
  for (const bool taken : {false, true}) {
    CAPTURE(taken);
    if (taken) REQUIRE(redis.rlock("permit", "acquire", "seats", "--lease", "1m").exit_code() == 0);
    for (const std::string wait : {"0", "forever"}) {
      Rlock acquire = redis.rlock("permit", "acquire", "seats", "--lease", "1m", "--count", "9", "-w", wait);
      CHECK(acquire.exit_code() == 65);
      CHECK(acquire.err() == reason);
      Rlock run = redis.rlock("run", "-k", "seats", "--count", "9", "-w", wait, "--", "true");
      CHECK(run.exit_code() == 65);
      CHECK(run.err() == reason);
    }
    CHECK(redis.rlock("run", "-k", "seats", "--permits", "3", "--count", "9", "--", "true").exit_code() ==
          64);
  }
  CHECK(redis.rlock("run", "-n", "-k", "seats", "--count", "3", "--", "true").exit_code() == 75);
}

TEST_CASE("malformed numbers are refused before anything is sent") {
  RedisServer redis;
  Monitor monitor{redis};
  for (const std::string number : {"0", "2147483648", "1e3", "x", "1.5", "+1", "9999999999999999999999"}) {
    if (number != "0") tell(redis, {{"sem init s " + number, 64, ""}});
    tell(redis, {{"permit add p " + number, 64, ""},
                 {"sem add s " + number, 64, ""},
                 {"sem acquire s --count " + number, 64, ""},
                 {"permit init p " + number, 64, ""},
                 {"permit acquire p --lease 1m --count " + number, 64, ""},
                 {"latch set l " + number, 64, ""},
                 {"latch down l --by " + number, 64, ""}});
  }
  tell(redis, {{"sem add s -- -2147483648", 64, ""},
               {"sem add s -- --1", 64, ""},
               {"permit add p -- -2147483648", 64, ""},
               {"permit set p -- -1", 64, ""},
               {"sem init s -- -1", 64, ""},
               {"sem init s 1 --expire 0", 64, ""},
               {"sem init", 64, ""},
               {"sem init s", 64, ""},
               {"sem init s 1 2", 64, ""},
               {"sem inti s 1", 64, ""}});
  CHECK(monitor.commands().empty());
}

TEST_CASE("inside runs that leave too few permits, a wait for permits is a deadlock, and ends") {
  RedisServer redis;
  const auto inside = [&](const std::string& size, const std::string& text) {
    return start(redis,
                 {rlock_binary(), "run", "-q", "--permits", size, "-k", "p" + size, "--", "sh", "-c", text});
  };
  Process all = inside("1", "\"$RLOCK\" permit acquire p1 --lease 5s");
  CHECK(all.exit_code() == 75);
  CHECK_MESSAGE(contains(all.err(), "deadlock: 'p1' is held by process "), all.err());
  Process two = inside("2", "\"$RLOCK\" permit acquire p2 --count 2 --lease 5s");
  CHECK(two.exit_code() == 75);

  // Of the two permits, the other one comes back: that is worth the wait.
  Process one = inside(
      "2",
      "\"$RLOCK\" permit acquire -q p2 --lease 3s >/dev/null && \"$RLOCK\" permit acquire p2 --lease 1s");
  CHECK_MESSAGE(one.exit_code() == 0, one.err());
}
