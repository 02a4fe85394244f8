// The recipes of the README, run as they are written, with stand-ins for what they protect.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "support/cli.h"
#include "support/contains.h"
#include "support/redis_server.h"

using namespace rlock::test;

namespace {

/// Makes a command that writes into a log that it ran, and with which arguments.
void stand_in(const TempDir& folder, const std::string& name) {
  write_file(folder / name, "#!/bin/sh\necho \"" + name + " $*\" >>" + folder / "log" + "\n");
  std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
}

/// Runs tests/recipes/<name>.sh, behind the words `under`. Returns the lines of its commands' log, sorted.
std::string ran(RedisServer& redis, const std::string& name, Words under = {}) {
  TempDir folder;
  for (const char* command : {"report", "deploy", "service", "synthesize", "prepare", "migrate", "verify"})
    stand_in(folder, command);
  std::filesystem::create_symlink(rlock_binary(), folder / "rlock");
  Process::Options options = redis.environment();
  options.env["PATH"] = folder.path() + ":" + std::getenv("PATH");
  options.directory = folder.path();
  under.insert(under.end(), {"sh", std::string{RLOCK_SOURCE_FOLDER} + "/tests/recipes/" + name + ".sh"});
  Process script{under, options};
  CHECK(script.exit_code(std::chrono::seconds{60}) == 0);
  INFO(script.err());
  return output_of({"sort", folder / "log"});
}

}  // namespace

TEST_CASE("the cron recipe runs the job on one host and keeps the key for the others") {
  RedisServer redis;
  CHECK(ran(redis, "cron") == "report \n");
  CHECK(redis.pttl("report") > 0);
}

TEST_CASE("the CI recipe deploys and leaves nothing behind") {
  RedisServer redis;
  CHECK(ran(redis, "ci") == "deploy \n");
  CHECK_FALSE(redis.has("production"));
}

TEST_CASE("the unit recipe runs the service") {
  RedisServer redis;
  CHECK(ran(redis, "unit") == "service \n");
}

TEST_CASE("the seats recipe runs every job with a seat of its own") {
  RedisServer redis;
  const std::string log = ran(redis, "seats");
  CHECK(std::count(log.begin(), log.end(), '\n') == 6);
  CHECK(contains(log, "--seat 0"));
  CHECK_FALSE(contains(log, "--seat 5"));
}

TEST_CASE("the sections recipe holds the lock over its section and gives it back") {
  RedisServer redis;
  CHECK(ran(redis, "sections") == "migrate \nprepare \nverify \n");
  CHECK_FALSE(redis.has("database"));
}

TEST_CASE("a script that starts itself again holds its lock, also inside a hold of another key") {
  RedisServer redis;
  CHECK(ran(redis, "whole") == "migrate \n");
  CHECK(ran(redis, "whole", {rlock_binary(), "run", "-k", "another", "--"}) == "migrate \n");
  CHECK_FALSE(redis.has("db"));
}
