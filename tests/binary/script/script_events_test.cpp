// lock acquire --events: rlock and the keeper that it leaves behind report the hold of a script in one stream.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <string>

#include "base/text.h"
#include "support/contains.h"
#include "support/event_lines.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/masters.h"
#include "support/redis_server.h"
#include "support/script.h"
#include "support/tcp_proxy.h"

using namespace rlock;
using namespace rlock::test;
using namespace std::chrono_literals;

namespace {

/// A script that runs `before`, acquires `k`, reports to a file (or to what `events` names), and then runs `rest`.
class ReportingScript : public ShellScript {
 public:
  ReportingScript(const RedisServer& redis, const std::string& options, const std::string& rest,
                  const std::string& events = "$FOLDER/events", const std::string& before = ":")
      : ShellScript(
            redis,
            fmt::format("{}\nowner=$(\"$RLOCK\" lock acquire k --while-pid $$ --events {} {}) || exit\n"
                        "echo $owner >$FOLDER/on\n{}\n",
                        before, events, options, rest)) {}

  std::string path(const std::string& name) const { return folder() + "/" + name; }
  bool holds() const { return !file("on").empty(); }
  std::string events() const { return events_in(path("events")); }
  std::string last(const std::string& name) const { return field(lines_of(path("events")).back(), name); }

  void signal_keeper(int number) const {
    pid_t found = 0;
    REQUIRE(eventually([&] { return (found = keeper()) > 0; }, 10s));
    ::kill(found, number);
  }
};

}  // namespace

TEST_CASE(
    "rlock reports the acquire of a script, its keeper the end, and both the script's number and owner") {
  RedisServer redis;
  ReportingScript script{redis, "--fenced", "exit 3"};
  CHECK(script.process().exit_code() == 3);
  REQUIRE(eventually([&] { return script.events() == "acquired released"; }, 10s));
  const auto lines = lines_of(script.path("events"));
  for (const std::string& line : lines) {
    CHECK(line.starts_with("{\"v\":1,\"event\":\""));
    CHECK(field(line, "key") == "\"k\"");
    CHECK(field(line, "pid") == std::to_string(script.process().pid()));
  }
  CHECK(field(lines.front(), "owner") == "\"" + line(script.file("on")) + "\"");
  CHECK(field(lines.front(), "fence") == "1");
  CHECK(script.last("outcome") == "\"released\"");
  CHECK(script.last("exit") == "null");
  CHECK(script.last("held_ms") != "null");
}

TEST_CASE("a script waits in its stream as a run does, and a wait in vain ends it") {
  RedisServer redis;
  TempDir folder;
  const std::string file = folder / "events";
  Rlock holder = redis.rlock("run", "-q", "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return redis.has("rlock:meta:{k}"); }));
  CHECK(status_of(redis, {"lock", "acquire", "-qn", "k", "--lease", "1m", "--events", file}) == 75);
  CHECK(events_in(file) == "gave-up");
  CHECK(field(lines_of(file).back(), "outcome") == "\"busy\"");
  CHECK(field(lines_of(file).back(), "exit") == "75");

  ReportingScript script{redis, "-q", "exit 0"};
  REQUIRE(eventually([&] { return script.events() == "waiting"; }, 10s));
  CHECK(script.last("holder") == "\"" + redis.cli({"HKEYS", "k"}) + "\"");
  holder.signal(SIGTERM);
  CHECK(script.process().exit_code(20s) == 0);
  CHECK(eventually([&] { return script.events() == "waiting acquired released"; }, 10s));

  CHECK(status_of(redis, {"lock", "acquire", "-q", "other", "--lease", "1m", "--events", file}) == 0);
  CHECK(events_in(file) == "gave-up acquired");
  redis.kill();
  CHECK(status_of(redis, {"lock", "acquire", "-q", "k", "--lease", "1m", "--events", file}) == 69);
  CHECK(events_in(file) == "gave-up acquired gave-up");
  CHECK(field(lines_of(file).back(), "outcome") == "\"unreachable\"");
}

TEST_CASE(
    "a keeper reports trouble, recovery and a loss with the stop after it, each once and in this order") {
  RedisServer redis;
  ReportingScript script{redis, "--lease 6s", "sleep 60"};
  REQUIRE(eventually([&] { return script.holds(); }, 10s));
  redis.freeze();
  REQUIRE(eventually([&] { return script.events() == "acquired trouble"; }, 10s));
  redis.thaw();
  REQUIRE(eventually([&] { return script.events() == "acquired trouble recovered"; }, 10s));
  redis.del("k");
  CHECK(script.process().exit_code(20s) == 128 + SIGTERM);
  CHECK(eventually([&] { return script.events() == "acquired trouble recovered lost stopping ended"; }, 10s));
  CHECK(script.last("outcome") == "\"lost\"");
}

TEST_CASE("each end of a script's hold has its outcome in the stream") {
  RedisServer redis;
  const auto ends = [&](const std::string& what, const std::string& options, const std::string& rest,
                        const std::string& events, const std::string& outcome, const auto& act) {
    CAPTURE(what);
    ReportingScript script{redis, options, rest, "$FOLDER/events", "mkfifo $FOLDER/go"};
    REQUIRE(eventually([&] { return script.holds(); }, 10s));
    act(script);
    const auto choices = split(events, '|');
    const auto as_wanted = [&] { return std::ranges::count(choices, script.events()) == 1; };
    CHECK(eventually(as_wanted, 20s));
    CHECK_MESSAGE(as_wanted(), script.events());
    CHECK(script.last("outcome") == "\"" + outcome + "\"");
    script.process().signal(SIGKILL);
    REQUIRE(eventually([&] { return !redis.has("k"); }, 10s));
  };
  ends("rlock stop", "", "sleep 60", "acquired stopping released", "stopped",
       [&](ShellScript&) { CHECK(status_of(redis, {"stop", "-q", "k"}) == 0); });
  ends("rlock unlock", "", "sleep 60", "acquired lost stopping ended", "lost",
       [&](ShellScript&) { CHECK(status_of(redis, {"unlock", "-q", "--yes", "k"}) == 0); });
  ends("--on-lost warn", "--on-lost warn", "sleep 60", "acquired lost ended", "lost",
       [&](ShellScript&) { CHECK(status_of(redis, {"unlock", "-q", "--yes", "k"}) == 0); });
  ends("lock release", "", "\"$RLOCK\" lock release k --owner $owner; sleep 60", "acquired released",
       "released", [](ShellScript&) {});
  ends("TERM to the keeper", "", "sleep 60", "acquired stopping released", "interrupted",
       [](ReportingScript& script) { script.signal_keeper(SIGTERM); });
  // The keeper renews once as soon as it listens. If the script has not ended by then, the renewal finds the loss, and
  // a stop follows.
  ends("a loss that the release finds", "--lease 5m", "read -r line <$FOLDER/go",
       "acquired lost ended|acquired lost stopping ended", "lost", [&](ReportingScript& script) {
         redis.del("k");
         write_file(script.path("go"), "go\n");
       });
}

TEST_CASE("a loss that only the release of a script's lock finds is reported, and the outcome is lost") {
  RedisServer redis;
  ReportingScript script{redis, "-v --lease 5m", "read -r line <$FOLDER/go", "$FOLDER/events",
                         "mkfifo $FOLDER/go"};
  REQUIRE(eventually([&] { return script.holds(); }, 10s));
  REQUIRE(eventually([&] { return contains(script.process().err(), "renewed 'k'"); }, 20s));
  redis.del("k");  // no message tells the keeper of it
  write_file(script.path("go"), "go\n");
  REQUIRE(eventually([&] { return script.events() == "acquired lost ended"; }, 20s));
  CHECK(script.last("outcome") == "\"lost\"");
  CHECK(eventually([&] { return contains(script.process().err(), "lost 'k': "); }, 10s));
}

TEST_CASE("a release that is answered when the lease would be over is no loss") {
  RedisServer redis;
  TcpProxy proxy{redis.where()};
  // The command would be stopped 1.5 s after the last renewal, and the next renewal comes after 1 s.
  ReportingScript script{redis, "--lease 3s --kill-after 1200ms --url " + proxy.url(),
                         "read -r line <$FOLDER/go", "$FOLDER/events", "mkfifo $FOLDER/go"};
  REQUIRE(eventually([&] { return script.holds(); }, 10s));
  REQUIRE(eventually([&] { return redis.pttl("k") < 2300; }, 10s));
  proxy.delay(TcpProxy::Way::to_client, 900ms);
  write_file(script.path("go"), "go\n");
  REQUIRE(eventually(
      [&] { return script.events().ends_with(" released") || script.events().ends_with(" ended"); }, 20s));
  // On a busy machine the release may begin too late: then there is a loss, and it was reported.
  const bool lost = contains(script.events(), " lost ");
  CHECK_MESSAGE(script.last("outcome") == (lost ? "\"lost\"" : "\"released\""), script.events());
}

TEST_CASE("a keeper does not renew while it releases") {
  Masters three{3};
  const std::string urls =
      fmt::format("-u {} -u {} -u {}", three.proxy(0).url(), three.proxy(1).url(), three.proxy(2).url());
  ReportingScript script{three[0], "--lease 1s " + urls, "read -r line <$FOLDER/go", "$FOLDER/events",
                         "mkfifo $FOLDER/go"};
  REQUIRE(eventually([&] { return script.holds(); }, 10s));
  three[2].freeze();  // the release waits for its answer, longer than for the next renewal
  write_file(script.path("go"), "go\n");
  REQUIRE(eventually([&] { return !three[0].has("k"); }, 10s));
  Monitor monitor{three[0]};
  REQUIRE(eventually(
      [&] { return script.events().ends_with(" released") || script.events().ends_with(" ended"); }, 20s));
  for (const std::string& command : monitor.commands()) CHECK_FALSE(command.starts_with("\"EVAL"));
  three[2].thaw();
}

TEST_CASE("a loss is reported although the script has ended when the answer to the renewal comes") {
  RedisServer redis;
  TcpProxy proxy{redis.where()};
  ReportingScript script{redis, "--lease 6s --url " + proxy.url(), "read -r line <$FOLDER/go",
                         "$FOLDER/events", "mkfifo $FOLDER/go"};
  REQUIRE(eventually([&] { return script.holds(); }, 10s));
  REQUIRE(eventually([&] { return redis.pttl("k") < 4500; }, 10s));
  REQUIRE(eventually([&] { return redis.pttl("k") > 5000; }, 10s));  // the next renewal comes after 2 s
  proxy.delay(TcpProxy::Way::to_client, 200ms);
  const std::size_t before = proxy.bytes(TcpProxy::Way::to_server);
  redis.del("k");
  REQUIRE(eventually([&] { return proxy.bytes(TcpProxy::Way::to_server) > before; }, 10s));
  write_file(script.path("go"), "go\n");

  // On a busy machine the answer may come first, or too late: then there is a stop, or trouble, too.
  REQUIRE(eventually([&] { return script.events().ends_with(" ended"); }, 20s));
  CHECK_MESSAGE(contains(script.events(), " lost "), script.events());
  CHECK(script.last("outcome") == "\"lost\"");
  CHECK(eventually([&] { return contains(script.process().err(), "lost 'k': "); }, 10s));
}

TEST_CASE("if a keeper or a run is killed, its guardian reports the end, and nothing twice") {
  RedisServer redis;
  {
    ReportingScript script{redis, "", "sleep 60"};
    REQUIRE(eventually([&] { return script.holds(); }, 10s));
    script.signal_keeper(SIGKILL);
    CHECK(script.process().exit_code() == 128 + SIGKILL);
    REQUIRE(eventually([&] { return !redis.has("k"); }, 10s));
    CHECK(eventually([&] { return script.events() == "acquired released"; }, 10s));
    CHECK(script.last("outcome") == "\"killed\"");
    CHECK(script.last("pid") == std::to_string(script.process().pid()));
    CHECK(eventually([&] { return script.process().family().empty(); }, 10s));
    CHECK(script.events() == "acquired released");
  }
  TempDir folder;
  const std::string file = folder / "events";
  Rlock run = redis.rlock("run", "-q", "--events", file, "-k", "k", "--", "sleep", "60");
  REQUIRE(eventually([&] { return run.family().size() >= 3; }, 10s));
  run.signal(SIGKILL);
  CHECK(run.exit_code() == 128 + SIGKILL);
  CHECK(eventually([&] { return events_in(file) == "acquired released"; }, 10s));
  CHECK(field(lines_of(file).back(), "outcome") == "\"killed\"");
  CHECK(field(lines_of(file).back(), "pid") == std::to_string(run.pid()));
  CHECK(field(lines_of(file).back(), "exit") == "null");
}

TEST_CASE("a full or dead reader delays neither the renewals of a keeper nor its end") {
  RedisServer redis;
  TempDir folder;
  UnreadPipe pipe{folder / "pipe"};
  pipe.fill();
  {
    ReportingScript script{redis, "--lease 3s", "sleep 60", pipe.path()};
    REQUIRE(eventually([&] { return script.holds(); }, 10s));
    CHECK(throughout([&] { return redis.pttl("k") > 0; }, 7s));  // more than two leases
    output_of({"sh", "-c", "dd if=" + pipe.path() + " iflag=nonblock bs=65536 of=/dev/null 2>/dev/null; :"});
    script.process().signal(SIGTERM);
    CHECK(script.process().exit_code() == 128 + SIGTERM);
    REQUIRE(eventually([&] { return !redis.has("k"); }, 10s));
    std::string rest;  // the keeper writes the event after the release
    REQUIRE(eventually([&] {
      rest += output_of({"sh", "-c", "dd if=" + pipe.path() + " iflag=nonblock bs=4096 2>/dev/null; :"});
      return rest.ends_with('\n');
    }));
    CHECK_MESSAGE(field(rest, "event") == "\"released\"", rest);
    CHECK(field(rest, "dropped") == "1");
  }

  ReportingScript script{redis, "--lease 3s", "sleep 60", "8 8>$FOLDER/pipe",
                         "mkfifo $FOLDER/pipe; head -n 1 $FOLDER/pipe >$FOLDER/events &"};
  REQUIRE(eventually([&] { return script.holds() && script.events() == "acquired"; }, 10s));
  CHECK(throughout([&] { return redis.pttl("k") > 0; }, 4s));
  CHECK(status_of(redis, {"stop", "-q", "k"}) == 0);
  CHECK(script.process().exit_code() == 128 + SIGTERM);
  CHECK(script.events() == "acquired");
}

TEST_CASE("the keeper goes on with an open descriptor, whichever it is") {
  RedisServer redis;
  for (const std::string number : {"3", "7", "9"}) {
    CAPTURE(number);
    ReportingScript script{redis, "", "exit 0", number + " " + number + ">>$FOLDER/events"};
    CHECK(script.process().exit_code() == 0);
    CHECK(eventually([&] { return script.events() == "acquired released"; }, 10s));
  }
}

TEST_CASE("--events into the pipe of the owner id is 64, because its reader would wait for the keeper") {
  RedisServer redis;
  for (const std::string where : {"1", "/dev/stdout", "2 2>&1", "5 5>&1"}) {
    CAPTURE(where);
    ReportingScript script{redis, "", "exit 0", where};
    CHECK(script.process().exit_code() == 64);
    CHECK_FALSE(script.holds());
    CHECK_FALSE(redis.has("k"));
  }
  TempDir folder;
  Process shell{{"sh", "-c",
                 rlock_binary() + " lock acquire k --while-pid $$ --events 1 >" + folder / "log" +
                     "; while [ $(wc -l <" + folder / "log" + ") != 2 ]; do sleep 0.1; done"},
                redis.environment()};
  CHECK(shell.exit_code() == 0);
  CHECK(eventually([&] { return lines_of(folder / "log").size() == 3; }, 10s));
  CHECK(field(lines_of(folder / "log")[0], "event") == "\"acquired\"");
  CHECK(field(lines_of(folder / "log")[2], "event") == "\"released\"");
}
