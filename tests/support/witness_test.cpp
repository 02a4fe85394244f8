#include <doctest/doctest.h>

#include "support/crowd.h"
#include "support/eventually.h"
#include "support/witness.h"

using namespace rlock::test;

namespace {

Words behind(Words wrapper, const Words& command) {
  wrapper.insert(wrapper.end(), command.begin(), command.end());
  return wrapper;
}

Verdict verdict_on(const Words& wrapper, const std::string& how, const std::string& folder) {
  const Crowd crowd{.workers = 8,
                    .runs = 10,
                    .command = [&](int, int) { return behind(wrapper, witness_command(folder, how)); },
                    .options = {}};
  const auto result = run(crowd, 60s);
  CHECK_MESSAGE(result.all(0), result.str() << result.complaints);
  const auto verdict = judge(folder);
  MESSAGE(verdict.str());
  return verdict;
}

/// Has the first witness written a sign of life? It writes one after it has asked for its kernel lock.
bool shows_life(const std::string& folder) {
  const auto stays = read_stays(folder);
  return !stays.empty() && stays.front().exit > 0;
}

}  // namespace

TEST_CASE("the witness sees the overlaps without a lock") {
  TempDir folder;
  const auto verdict = verdict_on({"env"}, "for 50", folder.path());

  CHECK(verdict.holds == 80);
  CHECK(verdict.refused > 0);
  CHECK(verdict.overlaps > 0);
  CHECK(verdict.lost > 0);
  CHECK(output_of({program("witness"), "check", folder.path(), "min", "80"}) == verdict.str() + "\n");
}

TEST_CASE("the witness has nothing to report behind flock") {
  TempDir folder;
  const auto verdict = verdict_on({"flock", folder / "lock"}, "for 3", folder.path());

  CHECK(verdict.holds == 80);
  CHECK(verdict.unfinished == 0);
  CHECK_MESSAGE(verdict.clean(), verdict.str());
  CHECK(Process{{program("witness"), "check", folder.path(), "min", "80"}}.exit_code() == 0);
  CHECK(Process{{program("witness"), "check", folder.path(), "min", "81"}}.exit_code() == 2);
}

TEST_CASE("the witness allows several readers, and no process beside a writer") {
  TempDir readers;
  CHECK(verdict_on({"env"}, "shared for 3", readers.path()).clean());

  TempDir mixed;
  Process reader{witness_command(mixed.path(), "shared for 60000")};
  REQUIRE(eventually([&] { return shows_life(mixed.path()); }));
  Process writer{witness_command(mixed.path(), "for 1")};
  CHECK(writer.exit_code() == 0);
  CHECK(eventually([&] { return judge(mixed.path()).overlaps == 1; }));
  CHECK(judge(mixed.path()).refused == 1);
}

TEST_CASE("the witness counts the processes inside if several may be") {
  TempDir few;
  const auto pair = [&](int, int) { return witness_command(few.path(), "slots 2 for 5"); };
  CHECK(run({.workers = 2, .runs = 10, .command = pair, .options = {}}, 30s).all(0));
  CHECK(judge(few.path()).clean());

  TempDir many;
  CHECK_FALSE(verdict_on({"env"}, "slots 2 for 100", many.path()).clean());
}

TEST_CASE("the kernel lock shows a process of an earlier command that lives on") {
  TempDir folder;
  // A process that a witness has started inherits its kernel lock. Here a shell stands for such a process.
  Process orphan{{"sh", "-c", "exec 9>" + (folder / "slot.0") + "; flock 9; sleep 60"}};
  REQUIRE(eventually([&] { return Process{{"flock", "-n", folder / "slot.0", "true"}}.exit_code() != 0; }));

  CHECK(Process{witness_command(folder.path())}.exit_code() == 0);
  CHECK(judge(folder.path()).refused == 1);
}

TEST_CASE("a witness that is killed is unfinished and counts until its last sign of life") {
  TempDir folder;
  Process killed{witness_command(folder.path(), "for 60000")};
  REQUIRE(eventually([&] { return shows_life(folder.path()); }));
  killed.signal(9);
  CHECK(killed.exit_code() == 128 + 9);
  CHECK(Process{witness_command(folder.path())}.exit_code() == 0);

  const auto verdict = judge(folder.path());
  CHECK(verdict.holds == 2);
  CHECK(verdict.unfinished == 1);
  CHECK(verdict.clean());
}
