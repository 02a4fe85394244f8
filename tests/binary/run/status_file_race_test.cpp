// Other processes replace or remove the status file while the command runs; and two runs share one status
// file.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <list>
#include <string>

#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"

using namespace rlock::test;

namespace {

bool is_regular(const std::string& path) {
  struct stat facts{};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
}

/// A run with a command that runs `line` on $FILE, the run's status file, and exits with 3.
Rlock run_that(const RedisServer& redis, const std::string& line, const std::string& file) {
  Process::Options options = redis.environment();
  options.env["FILE"] = file;
  return Rlock{{"run", "-k", "k", "--status-file", file, "--", "sh", "-c", line + "; exit 3"}, options};
}

}  // namespace

TEST_CASE(
    "a status replaces a link or a pipe that took its place while the command ran, and follows neither") {
  RedisServer redis;
  TempDir folder;
  for (const std::string line :
       {"ln -s \"$FILE.target\" \"$FILE\"", "mkfifo \"$FILE\"", "echo other >\"$FILE\""}) {
    CAPTURE(line);
    const std::string file = folder / "status";
    Rlock run = run_that(redis, line, file);
    CHECK(run.exit_code(kDeadline) == 3);
    CHECK_MESSAGE(run.err().empty(), run.err());
    REQUIRE(is_regular(file));
    CHECK(contains(read_file(file), R"("outcome":"ran","exit":3)"));
    CHECK(read_file(file + ".target").empty());
  }
}

TEST_CASE("a status that cannot be written costs neither the command's status nor the release") {
  RedisServer redis;
  TempDir folder;
  for (const std::string line : {"mkdir \"$FILE\"", "rm -r \"${FILE%/*}\""}) {
    CAPTURE(line);
    REQUIRE(Process{{"sh", "-c", "rm -rf \"$0\" && mkdir \"$0\"", folder / "in"}}.exit_code(kDeadline) == 0);
    Rlock run = run_that(redis, line, folder / "in/status");
    CHECK(run.exit_code(kDeadline) == 3);
    CHECK_MESSAGE(contains(run.err(), "cannot write the status to "), run.err());
    CHECK_FALSE(redis.has("k"));
  }
  Rlock full = redis.rlock("run", "-k", "k", "--status-file", "/dev/full", "--", "sh", "-c", "exit 3");
  CHECK(full.exit_code(kDeadline) == 3);
  CHECK(contains(full.err(), "cannot write the status to '/dev/full': No space left on device"));
  CHECK_FALSE(redis.has("k"));
}

TEST_CASE("of runs with the same status file one leaves its whole record, and no other file stays") {
  RedisServer redis;
  TempDir folder;
  std::list<Rlock> runs;
  for (int i = 0; i < 8; ++i)
    runs.push_back(redis.rlock("run", "-k", "k" + std::to_string(i), "--status-file", folder / "status", "--",
                               "sh", "-c", "exit " + std::to_string(i)));
  int number = 0;
  for (Rlock& run : runs) CHECK(run.exit_code(kDeadline) == number++);
  const std::string record = read_file(folder / "status");
  CHECK(record.starts_with(R"({"v":1,"outcome":"ran")"));
  CHECK(record.find('\n') == record.size() - 1);
  CHECK(output_of({"ls", "-A", folder.path()}) == "status\n");
}
