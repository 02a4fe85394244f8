// Many workers and one key: whatever happens to the server and the network, no two workers are inside
// together.

#include <doctest/doctest.h>

#include "faults/fault_line.h"
#include "support/contains.h"
#include "support/crowd.h"

using namespace rlock::test;

namespace {

struct Storm {
  std::string name;
  Words options;
  std::vector<std::string> config;
  std::chrono::milliseconds every = 0ms;  ///< 0: once, before the crowd
  std::function<void(FaultLine&)> deed;
  int workers = long_profile() ? 20 : 8;
  int runs = long_profile() ? 50 : 5;
};

/// Runs a crowd of workers in a storm: every run must have had the lock, and the witness must have seen no
/// overlap.
void check_alone(const Storm& storm) {
  CAPTURE(storm.name);
  FaultLine line{storm.config};
  std::optional<Again> again;
  if (storm.deed && storm.every == 0ms) storm.deed(line);
  if (storm.deed && storm.every > 0ms) again.emplace(storm.every, [&] { storm.deed(line); });

  Words words{rlock_binary(), "run", "-q", "-k", "k"};
  words.insert(words.end(), storm.options.begin(), storm.options.end());
  words.push_back("--");
  for (const auto& word : witness_command(line.folder.path(), "for 3")) words.push_back(word);
  auto options = line.redis.environment();
  options.env["RLOCK_URL"] = line.proxy.url();
  const Crowd crowd{storm.workers, storm.runs, [&](int, int) { return words; }, options};
  const auto result = run(crowd, long_profile() ? 600s : 120s);
  again.reset();

  const auto verdict = line.verdict();
  report(storm.name + ", " + std::to_string(storm.workers) + " x " + std::to_string(storm.runs),
         verdict.str(), result.statuses.rbegin()->first, result.elapsed);
  CHECK_MESSAGE(verdict.clean(), verdict.str());
  CHECK_FALSE(contains(result.complaints, "not ours"));
  CHECK_MESSAGE(result.all(0), result.str() << "\n" << result.complaints);
  CHECK(verdict.holds == static_cast<std::size_t>(storm.workers * storm.runs));
  line.proxy.pass();
  CHECK(eventually([&] { return line.clean(); }, 3s));
}

}  // namespace

TEST_CASE("a crowd takes turns without faults") {
  check_alone({.name = "no fault", .workers = 20, .runs = long_profile() ? 50 : 10});
}

TEST_CASE("a crowd takes turns although the network delivers single bytes") {
  check_alone(
      {.name = "byte by byte",
       .options = {"--command-timeout", "30s"},  // a proxy without processor time is slow
       .deed = [](FaultLine& l) { l.proxy.bytewise(Way::to_client), l.proxy.bytewise(Way::to_server); }});
}

TEST_CASE("a crowd takes turns behind a slow line") {
  check_alone({.name = "20 ms later in both directions", .deed = [](FaultLine& l) {
                 l.proxy.delay(Way::to_client, 20ms), l.proxy.delay(Way::to_server, 20ms);
               }});
}

TEST_CASE("a crowd takes turns although connections are reset all the time") {
  check_alone({.name = "all connections reset every 150 ms",
               .options = {"--wait", "forever"},
               .every = 150ms,
               .deed = [](FaultLine& l) { l.proxy.reset_all(); }});
}

TEST_CASE("a crowd takes turns although some answers are lost") {
  check_alone({.name = "answers lost for 100 of 400 ms",
               .options = {"--wait", "forever", "--command-timeout", "200ms", "--connect-timeout", "300ms"},
               .every = 300ms,
               .deed = [](FaultLine& l) {
                 l.proxy.drop(Way::to_client);
                 std::this_thread::sleep_for(100ms);
                 l.proxy.pass();
               }});
}

TEST_CASE("a crowd takes turns although some requests are lost") {
  check_alone({.name = "questions lost for 100 of 400 ms",
               .options = {"--wait", "forever", "--command-timeout", "200ms", "--connect-timeout", "300ms"},
               .every = 300ms,
               .deed = [](FaultLine& l) {
                 l.proxy.drop(Way::to_server);
                 std::this_thread::sleep_for(100ms);
                 l.proxy.pass();
               }});
}

TEST_CASE("a crowd takes turns although the server kills clients") {
  check_alone({.name = "CLIENT KILL all every 100 ms",
               .options = {"--wait", "forever"},
               .every = 100ms,
               .deed = [](FaultLine& l) {
                 RespClient killer{l.redis.where()};
                 killer.ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
                 killer.ask({"CLIENT", "KILL", "TYPE", "pubsub"});
               }});
}

TEST_CASE("a crowd takes turns although the server flushes its scripts") {
  check_alone({.name = "SCRIPT FLUSH every 5 ms", .every = 5ms, .deed = [](FaultLine& l) {
                 RespClient{l.redis.where()}.ask({"SCRIPT", "FLUSH"});
               }});
}

TEST_CASE("a crowd takes turns although the server freezes for a while") {
  check_alone({.name = "server frozen for 300 of 1300 ms", .every = 1s, .deed = [](FaultLine& l) {
                 l.redis.freeze();
                 std::this_thread::sleep_for(300ms);
                 l.redis.thaw();
               }});
}

TEST_CASE("a crowd takes turns although the server is killed, and restarted with its data") {
  check_alone({.name = "server killed every 3 s, AOF always",
               .options = {"--wait", "forever"},
               .config = {"appendonly yes", "appendfsync always"},
               .every = 3s,
               .deed = [](FaultLine& l) { l.redis.restart(); }});
}
