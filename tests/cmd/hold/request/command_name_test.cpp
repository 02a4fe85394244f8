// The shown command of a holder: the script and not its interpreter, and no arguments unless requested.

#include "cmd/hold/request/command_name.h"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>

#include "base/text.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// The "command" of the only holder of a key.
std::string shown_command(const RedisServer& redis, const std::string& key) {
  Rlock inspect{{"inspect", "--json", key}, redis.environment()};
  REQUIRE(inspect.exit_code() == 0);
  const std::string begin = "\"command\":\"";
  const std::size_t at = inspect.out().find(begin);
  REQUIRE(at != std::string::npos);
  const std::string rest = inspect.out().substr(at + begin.size());
  return rest.substr(0, rest.find("\",\""));
}

}  // namespace

TEST_CASE(
    "a script is shown by its own name, a line of code by its interpreter's, and no argument is shown") {
  const std::vector<std::pair<std::string, std::string>> table{
      {"make deploy", "make"},
      {"/usr/bin/make -C /x", "make"},
      {"sh", "sh"},
      {"-bash", "bash"},
      {"/bin/sh -c SECRET", "sh -c"},
      {"bash -euc SECRET", "bash -c"},
      {"bash -o pipefail -c SECRET", "bash -c"},
      {"sh /opt/backup.sh --password SECRET", "backup.sh"},
      {"bash -eu -o pipefail -- ./a.sh SECRET", "a.sh"},
      {"bash --rcfile SECRET a.sh", "bash"},
      {"bash -s SECRET", "bash"},
      {"python3 deploy.py SECRET", "deploy.py"},
      {"/usr/bin/python3.13 -u -W error deploy.py", "deploy.py"},
      {"python3 -m SECRET", "python3 -m"},
      {"python3 -c SECRET", "python3 -c"},
      {"pythonic SECRET", "pythonic"},
      {"perl -we SECRET", "perl -e"},
      {"ruby x/y.rb", "y.rb"},
      {"node --token=SECRET app.js", "node"},
      {"./deploy.sh SECRET", "deploy.sh"},
  };
  for (const auto& [line, name] : table) {
    CAPTURE(line);
    CHECK(command_name(split(line, ' ')) == name);
  }
  CHECK(command_line({"make", "deploy it", "-j4"}) == "make 'deploy it' -j4");
}

TEST_CASE(
    "inspect names the script that a run has started, sh -c for a line, and arguments if they are to be shown") {
  RedisServer redis;
  TempDir folder;
  write_file(folder / "job.sh", "#!/bin/sh\nsleep 60\n");
  std::filesystem::permissions(folder / "job.sh", std::filesystem::perms::owner_all);
  const std::string job = folder / "job.sh";
  const std::vector<std::pair<Words, std::string>> table{
      {{"--", "sh", "-eu", job, "SECRET"}, "job.sh"},
      {{"--", job, "SECRET"}, "job.sh"},
      {{"-c", "sleep 60 # SECRET"}, "sh -c"},
      {{"--", "bash", "-c", "sleep 60 # SECRET"}, "bash -c"},
      {{"--show-args", "--", "sh", job, "to", "a b"}, "sh " + job + " to 'a b'"},
      {{"--show-args", "-c", "sleep 60"}, "/bin/sh -c 'sleep 60'"},
  };
  for (const auto& [words, name] : table) {
    Words all{"run", "-k", "k"};
    all.insert(all.end(), words.begin(), words.end());
    CAPTURE(joined(all, " "));
    Rlock run{all, redis.environment()};
    REQUIRE(eventually([&] { return redis.has("rlock:meta:{k}"); }, std::chrono::seconds{10}));
    CHECK(shown_command(redis, "k") == name);
    run.signal(SIGTERM);
    CHECK(run.exit_code() == 128 + SIGTERM);
  }
}

TEST_CASE("inspect names the script that called lock acquire, however it was started") {
  RedisServer redis;
  TempDir folder;
  write_file(folder / "deploy.sh",
             "#!/bin/sh\nowner=$(\"$RLOCK\" lock acquire k --lease 1m) || exit\necho \"$owner\"\n:\n");
  std::filesystem::permissions(folder / "deploy.sh", std::filesystem::perms::owner_all);
  Process::Options options = redis.environment();
  options.env["RLOCK"] = rlock_binary();
  const std::string script = folder / "deploy.sh";
  for (const auto& [words, name] :
       {std::pair{Words{"sh", "-eu", script, "SECRET"}, "deploy.sh"},
        std::pair{Words{script, "SECRET"}, "deploy.sh"},
        std::pair{Words{"sh", "-c", "\"$RLOCK\" lock acquire k --lease 1m; :"}, "sh -c"}}) {
    Process shell{words, options};
    REQUIRE(shell.exit_code() == 0);
    CHECK(shown_command(redis, "k") == name);
    redis.del("k");
    redis.del("rlock:meta:{k}");
  }
}
