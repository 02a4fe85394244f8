// Holds inside holds: a run inside a script that holds by --while-pid, a script inside a run, and holds that
// cannot be joined.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"
#include "support/skipped.h"
#include "support/started.h"

using namespace rlock::test;
using namespace std::chrono_literals;

namespace {

/// The line with which a script takes k, with the type $TYPE.
const std::string kHold =
    "owner=$(\"$RLOCK\" lock acquire k --lease 2s --while-pid $$ --type $TYPE) || exit 9\n";

Process script(const RedisServer& redis, const std::string& type, const std::string& text) {
  Process::Options options;
  options.env["TYPE"] = type;
  return start(redis, {"sh", "-c", text}, options);
}

/// A run that ends when a script in its background has joined its hold. The script goes on until it can read from
/// FOLDER/go.
Process run_with_script_behind(const RedisServer& redis, const TempDir& folder, const std::string& type) {
  REQUIRE(Process{{"mkfifo", folder / "go"}}.exit_code() == 0);
  Process::Options options;
  options.env["TYPE"] = type;
  options.env["FOLDER"] = folder.path();
  return start(redis,
               {rlock_binary(), "run", "--type", type, "-k", "k", "--lease", "2s", "--", "sh", "-c",
                "sh -c '" + kHold +
                    ": >$FOLDER/on; read -r _ <$FOLDER/go' & "
                    "until [ -e $FOLDER/on ]; do sleep 0.05; done"},
               options);
}

}  // namespace

TEST_CASE("a run inside a script that holds the key by --while-pid joins that hold, and leaves it behind") {
  for (const std::string type : {"lock", "fair", "fenced", "write", "spin", "plain"}) {
    CAPTURE(type);
    RedisServer redis;
    Process outer = script(
        redis, type,
        kHold +
            "for wait in '-n' '-w 20s'; do\n"
            "\"$RLOCK\" run -q $wait -k k --type $TYPE -- sh -c '[ $RLOCK_OWNER = $0 ]' $owner || exit 8\n"
            "\"$RLOCK\" lock status -q k --owner $owner || exit 7\n"
            "done\n");
    CHECK_MESSAGE(outer.exit_code() == 0, outer.err());
    CHECK_MESSAGE(outer.err().empty(), outer.err());
    CHECK(eventually([&] { return !redis.has("k"); }));
  }
}

TEST_CASE("a run without its RLOCK_STACK joins the run above it by that run's record") {
  RedisServer redis;
  Process run =
      sh(redis, "\"$RLOCK\" run -k a -- env -u RLOCK_STACK \"$RLOCK\" run -n -k a -k b -- echo inside");
  CHECK_MESSAGE(run.exit_code() == 0, run.err());
  CHECK(run.out() == "inside\n");
  CHECK_FALSE(redis.has("a"));
  CHECK_FALSE(redis.has("b"));
}

TEST_CASE("a run that is no part of the script does not join its hold") {
  RedisServer redis;
  Process outer = script(redis, "lock", kHold + "echo on; exec sleep 60\n");
  REQUIRE(eventually([&] { return contains(outer.out(), "on"); }));
  Rlock other = redis.rlock("run", "-n", "-k", "k", "--", "echo", "inside");
  CHECK(other.exit_code() == 75);
  CHECK(other.out().empty());
  outer.signal(SIGKILL);
}

TEST_CASE("a record does not match another process with the pid of an old ancestor") {
  RedisServer redis;
  TempDir folder;
  REQUIRE(Process{{"mkfifo", folder / "go"}}.exit_code() == 0);
  Process::Options options;
  options.env["FOLDER"] = folder.path();
  Monitor monitor{redis};
  Process outer = sh(redis,
                     "owner=$(\"$RLOCK\" lock acquire k --lease 5m --while-pid $$) || exit 9\n"
                     "read -r _ <$FOLDER/go; \"$RLOCK\" run -n -k k -- echo inside; echo $?",
                     options);
  // The keeper renews as soon as it listens, and so writes the record once more: by its digest, then as a whole.
  REQUIRE(eventually([&] {
    const std::vector<std::string>& lines = monitor.commands();
    const auto listens =
        std::ranges::find_if(lines, [](const auto& one) { return contains(one, "\"SUBSCRIBE\""); });
    return std::count_if(listens, lines.end(),
                         [](const auto& one) { return contains(one, "\"rlock:meta:{k}\""); }) == 2;
  }));
  const std::string another_start =
      "local changed = 0 for _, field in ipairs(redis.call('hkeys', KEYS[1])) do "
      "local text, n = string.gsub(redis.call('hget', KEYS[1], field), '\"started\":', '\"started\":1') "
      "changed = changed + n redis.call('hset', KEYS[1], field, text) end return changed";
  REQUIRE(redis.cli({"EVAL", another_start, "1", "rlock:meta:{k}"}) == "1");
  write_file(folder / "go", "go\n");
  CHECK(outer.exit_code() == 0);
  CHECK(outer.out() == "75\n");
}

TEST_CASE("a container does not join the hold of another one with its host name, pids and start times") {
  const auto container = [](const std::string& text) {
    return Words{"unshare", "-rpf", "--kill-child", "--mount-proc", "sh", "-c", text};
  };
  if (Process{container("true")}.exit_code() != 0) return skipped("no user namespaces");
  RedisServer redis;
  TempDir folder;
  REQUIRE(Process{{"mkfifo", folder / "go"}}.exit_code() == 0);
  Process::Options options;
  options.env["FOLDER"] = folder.path();
  Process other = start(redis,
                        container("read -r stat </proc/1/stat; echo ${stat##*) }; read -r _ <$FOLDER/go\n"
                                  "\"$RLOCK\" run -n -k k -- echo inside; echo $?"),
                        options);
  REQUIRE(eventually([&] { return contains(other.out(), "\n"); }));
  Process holder =
      start(redis, container("\"$RLOCK\" lock acquire k --lease 5m --while-pid $$ || exit 9; exec sleep 60"),
            options);
  REQUIRE(eventually([&] { return contains(holder.out(), ":1"); }));

  std::istringstream stat{other.out()};
  std::string started;
  for (int field = 3; field <= 22; ++field) stat >> started;
  const std::string same_start =
      "local changed = 0 for _, field in ipairs(redis.call('hkeys', KEYS[1])) do "
      "local text, n = string.gsub(redis.call('hget', KEYS[1], field), '(\"pid\":1,.*\"started\":)%d+', '%1' .. ARGV[1]) "
      "changed = changed + n redis.call('hset', KEYS[1], field, text) end return changed";
  REQUIRE(redis.cli({"EVAL", same_start, "1", "rlock:meta:{k}", started}) == "1");
  write_file(folder / "go", "go\n");
  CHECK(other.exit_code() == 0);
  CHECK_MESSAGE(other.out().ends_with("\n75\n"), other.out());
  holder.signal(SIGKILL);
}

TEST_CASE("lock acquire --while-pid inside a run joins its hold, and its release leaves the run's") {
  for (const std::string type : {"lock", "fair", "fenced", "read", "write"}) {
    CAPTURE(type);
    RedisServer redis;
    Process::Options options;
    options.env["TYPE"] = type;
    Process run = start(redis,
                        {rlock_binary(), "run", "-k", "k", "--type", type, "--", "sh", "-c",
                         kHold + "case $owner in $RLOCK_OWNER#*) ;; *) exit 8;; esac\n"
                                 "\"$RLOCK\" lock renew k --owner $owner || exit 7\n"
                                 "\"$RLOCK\" lock release k --owner $owner || exit 6\n"
                                 "\"$RLOCK\" lock status -q k --owner $RLOCK_OWNER || exit 5\n"},
                        options);
    CHECK_MESSAGE(run.exit_code() == 0, run.err());
    CHECK_MESSAGE(run.err().empty(), run.err());
    CHECK(eventually([&] { return !redis.has("k"); }));
    CHECK(eventually([&] { return run.family().empty(); }));
  }
}

TEST_CASE("a script in the background keeps the hold that it has joined when the run has ended") {
  RedisServer redis;
  TempDir folder;
  Process run = run_with_script_behind(redis, folder, "lock");
  CHECK(run.exit_code() == 0);
  CHECK(throughout([&] { return redis.has("k"); }, 3s));
  write_file(folder / "go", "go\n");
  CHECK(eventually([&] { return !redis.has("k"); }));
}

TEST_CASE(
    "if the outer hold ends first, people soon see who holds the key inside it, and stop asks that one") {
  for (const Words& kept : {Words{}, Words{"--min-hold", "1s"}, Words{"--once-per", "1s"}}) {
    CAPTURE(kept);
    RedisServer redis;
    TempDir folder;
    Words words{rlock_binary(), "run", "-k", "k", "--lease", "2s"};
    words.insert(words.end(), kept.begin(), kept.end());
    words.insert(words.end(), {"--", "sh", "-c",
                               "\"$RLOCK\" run -k k --lease 2s -- sh -c ': >\"$FOLDER\"/on; exec sleep 60' & "
                               "until [ -e \"$FOLDER\"/on ]; do sleep 0.05; done"});
    Process::Options options;
    options.env["FOLDER"] = folder.path();
    Process run = start(redis, words, options);
    CHECK(run.exit_code() == 0);
    const auto says_who = [&] {
      Rlock inspect = redis.rlock("inspect", "--json", "k");
      static_cast<void>(inspect.exit_code());
      const std::string found = inspect.out();
      return contains(found, "\"state\":\"held\"") && contains(found, "\"command\":\"sh -c\"") &&
             !contains(found, fmt::format("\"pid\":{},", run.pid()));
    };
    CHECK(eventually(says_who));
    Rlock stop = redis.rlock("stop", "k");
    CHECK_MESSAGE(stop.exit_code() == 0, stop.err());
    CHECK(eventually([&] { return run.family().empty(); }));
  }
}

TEST_CASE("the release of the last of nested holds leaves no metadata") {
  for (const std::string type : {"lock", "read", "write", "fair"}) {
    CAPTURE(type);
    RedisServer redis;
    TempDir folder;
    Process run = run_with_script_behind(redis, folder, type);
    CHECK(run.exit_code() == 0);
    CHECK(redis.has("k"));
    CHECK(redis.has("rlock:meta:{k}"));
    write_file(folder / "go", "go\n");
    CHECK(eventually([&] { return !redis.has("k"); }));
    CHECK(eventually([&] { return !redis.has("rlock:meta:{k}"); }, 10s));
    CHECK(redis.cli({"ZCARD", "rlock:history:{k}"}) == "1");
  }
}

TEST_CASE("each release of nested holds ends only the keeper of its own hold") {
  RedisServer redis;
  // The second acquire of the script joins the first. Its release must not end the keeper of the first one.
  Process outer = script(redis, "lock",
                         kHold +
                             "inner=$(\"$RLOCK\" lock acquire k --lease 2s --while-pid $$) || exit 8\n"
                             "[ $inner != $owner ] || exit 7\n"
                             "\"$RLOCK\" lock release k --owner $inner || exit 6\n"
                             "sleep 3\n"
                             "\"$RLOCK\" lock status -q k --owner $owner || exit 5\n"
                             "\"$RLOCK\" lock release k --owner $owner || exit 4\n"
                             "\"$RLOCK\" lock status -q k && exit 3\n"
                             "exit 0\n");
  CHECK_MESSAGE(outer.exit_code(20s) == 0, outer.err());
  CHECK(eventually([&] { return outer.family().empty(); }));
}

TEST_CASE("the second release of an inner hold is 1, and leaves the hold around it") {
  for (const std::string type : {"lock", "fair", "fenced", "read", "write", "spin", "plain", "permit"}) {
    CAPTURE(type);
    RedisServer redis;
    Process::Options options;
    options.env["TYPE"] = type;
    const std::string permits = type == "permit" ? " --permits 1" : "";
    Process run = sh(redis,
                     "\"$RLOCK\" run -k k --type $TYPE" + permits +
                         " -- sh -c '"
                         "owner=$(\"$RLOCK\" lock acquire k --while-pid $$ --type $TYPE" +
                         permits +
                         ") || exit 9\n"
                         "\"$RLOCK\" lock renew k --owner $owner || exit 8\n"
                         "\"$RLOCK\" lock release k --owner $owner || exit 7\n"
                         "for verb in release renew \"status -q\"; do\n"
                         "\"$RLOCK\" lock $verb k --owner $owner 2>/dev/null; [ $? = 1 ] || exit 6\n"
                         "done\n"
                         "\"$RLOCK\" lock status -q k --owner $RLOCK_OWNER || exit 5\n"
                         "\"$RLOCK\" run -qn -k k --type $TYPE" +
                         permits + " -- true || exit 4\n'",
                     options);
    CHECK_MESSAGE(run.exit_code() == 0, run.err());
    CHECK_MESSAGE(run.err().empty(), run.err());
  }
}

TEST_CASE("the release of an inner read hold leaves the write hold around it") {
  RedisServer redis;
  Process run = sh(redis,
                   "\"$RLOCK\" run -x -k k -- sh -c '"
                   "owner=$(\"$RLOCK\" lock acquire -s k --while-pid $$) || exit 9\n"
                   "\"$RLOCK\" lock release k --owner $owner || exit 8\n"
                   "\"$RLOCK\" lock release k --owner $owner 2>/dev/null && exit 7\n"
                   "\"$RLOCK\" lock status -q k --owner $RLOCK_OWNER'");
  CHECK_MESSAGE(run.exit_code() == 0, run.err());
  CHECK(eventually([&] { return !redis.has("k"); }));
}

TEST_CASE(
    "an inner hold that never existed is 1 for status, renew and release, and the hold around it stays") {
  RedisServer redis;
  const std::string owner = acquired(redis, "k");
  for (const std::string name : {"#00000000", "#0000000000000000"}) {
    CAPTURE(name);
    CHECK(status_of(redis, {"lock", "status", "-q", "k", "--owner", owner + name}) == 1);
    CHECK(status_of(redis, {"lock", "renew", "k", "--owner", owner + name}) == 1);
    CHECK(status_of(redis, {"lock", "release", "k", "--owner", owner + name}) == 1);
  }
  CHECK(redis.cli({"HVALS", "k"}) == "1");
}

TEST_CASE("a keeper that does not hear of the release of its inner hold releases no other hold") {
  const std::string inner =
      "for i in 1 2 3; do\n"
      "sh -c \"owner=\\$(\\\"\\$RLOCK\\\" lock acquire k --while-pid \\$\\$) || exit; $QUIET"
      "\\\"\\$RLOCK\\\" lock release k --owner \\$owner\" || exit 8\n"
      "done\n"
      ": >$FOLDER/on; read -r _ <$FOLDER/go\n"
      "\"$RLOCK\" lock status -q k --owner $OWNER || exit 7\n";
  const auto keepers = [](Process& process) {
    return std::ranges::count_if(process.family(), [](pid_t pid) {
      return contains(read_file(fmt::format("/proc/{}/cmdline", pid)), std::string{"--while-pid\0", 12});
    });
  };
  for (const bool under_run : {true, false}) {
    CAPTURE(under_run);
    RedisServer redis;
    redis.cli({"ACL", "SETUSER", "deaf", "on", "nopass", "~*", "&*", "+@all", "-subscribe", "-ssubscribe"});
    TempDir folder;
    Process::Options options;
    options.env["FOLDER"] = folder.path();
    options.env["QUIET"] = "";
    options.env["RLOCK_URL"] = "unix://deaf:pw@" + redis.socket();
    REQUIRE(Process{{"mkfifo", folder / "go"}}.exit_code() == 0);
    Process outer =
        under_run
            ? start(redis,
                    {rlock_binary(), "run", "-k", "k", "--", "sh", "-c", "OWNER=$RLOCK_OWNER\n" + inner},
                    options)
            : start(
                  redis,
                  {"sh", "-c",
                   "eval \"$(\"$RLOCK\" lock acquire k --lease 10m --export)\" || exit 9\nOWNER=$RLOCK_OWNER\n" +
                       inner},
                  options);
    REQUIRE(eventually([&] { return ::access((folder / "on").c_str(), F_OK) == 0; }, 20s));
    CHECK(eventually([&] { return keepers(outer) == 0; }, 10s));
    CHECK(redis.cli({"HVALS", "k"}) == "1");
    write_file(folder / "go", "go\n");
    CHECK_MESSAGE(outer.exit_code() == 0, outer.err());
  }
}

TEST_CASE("a hold that cannot be joined is a deadlock: 75 after a second, with a remedy") {
  RedisServer redis;
  Process run = sh(redis, "\"$RLOCK\" run -k k -- \"$RLOCK\" lock acquire k --lease 1m");
  CHECK(run.exit_code() == 75);
  CHECK_MESSAGE(contains(run.err(), "deadlock: 'k' is held by process "), run.err());
  CHECK_MESSAGE(
      contains(run.err(),
               "(rlock), which waits for this command; add --while-pid $$ to take a hold inside that one"),
      run.err());
  Process named = sh(
      redis, "\"$RLOCK\" run -k k -- sh -c '\"$RLOCK\" lock acquire k --owner me --while-pid $$; exit $?'");
  CHECK(named.exit_code() == 75);
  CHECK_MESSAGE(contains(named.err(), "leave out --owner"), named.err());
  Process json = sh(redis, "\"$RLOCK\" run -k k -- \"$RLOCK\" lock acquire k --lease 1m --json");
  CHECK(json.exit_code() == 75);
  CHECK_MESSAGE(json.out().starts_with(R"({"v":1,"outcome":"busy","key":"k")"), json.out());
}

TEST_CASE(
    "a wait for permits that processes above it hold ends with 75, and permits that can be joined are") {
  RedisServer redis;
  Process::Options options = redis.environment();
  options.env["RLOCK"] = rlock_binary();
  const auto inside = [&](const std::string& count, const std::string& command) {
    Process outer{
        {rlock_binary(), "run", "--permits", "4", "--count", count, "-k", "p", "--", "sh", "-c", command},
        options};
    CHECK(outer.exit_code(20s) >= 0);
    return std::pair{outer.exit_code(), outer.err()};
  };
  const auto [run, why] = inside("2", "exec \"$RLOCK\" run --permits 4 --count 3 -k p -- true");
  CHECK(run == 75);
  CHECK_MESSAGE(contains(why, "deadlock: 'p' is held by process"), why);
  CHECK(inside("2", "exec \"$RLOCK\" lock acquire p --type permit --permits 4 --count 3 --lease 5s").first ==
        75);
  CHECK(inside("4", "unset RLOCK_STACK; exec \"$RLOCK\" run --permits 4 --count 4 -k p -- true").first == 0);
  CHECK(redis.cli({"GET", "p"}) == "4");
}

TEST_CASE("lock acquire --export tells the rest of a script about the hold, for any key") {
  const std::string hostile = "it's \\ $(touch /tmp/never) `x` \"q\"\nnext line\t#;&|";
  for (const std::string& key : {std::string{"k"}, hostile}) {
    CAPTURE(key);
    RedisServer redis;
    Process::Options options;
    options.env["KEY"] = key;
    Process outer = start(
        redis,
        {"sh", "-c",
         "eval \"$(\"$RLOCK\" lock acquire \"$KEY\" --fenced --while-pid $$ --export)\" || exit 9\n"
         "[ \"$RLOCK_KEY\" = \"$KEY\" ] && [ \"$RLOCK_FENCE\" = 1 ] || exit 8\n"
         "\"$RLOCK\" run -n -k \"$KEY\" --fenced -- sh -c '[ -z \"${RLOCK_KEY+x}\" ] && [ $RLOCK_FENCE = 2 ]' || exit 7\n"
         "\"$RLOCK\" lock renew \"$KEY\" || exit 6\n"
         "\"$RLOCK\" lock release \"$KEY\" || exit 5\n"
         "\"$RLOCK\" lock status -q \"$KEY\" && exit 4\n"
         "exit 0\n"},
        options);
    CHECK_MESSAGE(outer.exit_code() == 0, outer.err());
  }
}

TEST_CASE("eval of a failed lock acquire --export has its status") {
  RedisServer redis;
  const std::string owner = acquired(redis, "k");
  const std::string eval = "eval \"$(\"$RLOCK\" lock acquire k ";
  CHECK(sh(redis, eval + "-n --while-pid $$ --export)\" || exit; exit 3").exit_code() == 75);
  CHECK(sh(redis, eval + "--while-pid x --export)\" || exit; exit 3").exit_code() == 64);
  CHECK(sh(redis, eval + "-n --while-pid $$ --export --url redis://127.0.0.1:1)\" || exit; exit 3")
            .exit_code() == 69);
  CHECK(sh(redis, eval + "-n --while-pid $$ --export=tcsh)\" || exit; exit 3").exit_code() == 64);
  for (const std::string wrong :
       {"lock acquire k --while-pid $none --export", "--nosuch lock acquire k --export",
        "lock acquire --lease $none --export k", "lock get k --export", "lok acquire k --export"}) {
    CAPTURE(wrong);
    CHECK(sh(redis, "eval \"$(\"$RLOCK\" " + wrong + ")\" || exit; exit 3").exit_code() == 64);
  }
}

TEST_CASE("an option --export of a command prints nothing when rlock fails") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "--lease", "never", "-k", "k", "gpg", "--export", "lock");
  CHECK(run.exit_code() == 64);
  CHECK(run.out().empty());
}

TEST_CASE("the manual's line for --export ends the script also if rlock is killed or is not there") {
  RedisServer redis;
  const std::string owner = acquired(redis, "k"), rest = " --export) && eval \"$code\" || exit; exit 3";
  const std::string acquire = " lock acquire k --while-pid $$";
  CHECK(sh(redis, "code=$(/nonexistent/rlock" + acquire + rest).exit_code() == 127);
  CHECK(sh(redis, "code=$(timeout -s KILL 1 \"$RLOCK\"" + acquire + rest).exit_code() == 128 + SIGKILL);
  CHECK(sh(redis, "code=$(\"$RLOCK\"" + acquire + " -n" + rest).exit_code() == 75);
  CHECK(status_of(redis, {"lock", "release", "k", "--owner", owner}) == 0);
  CHECK(sh(redis, "code=$(\"$RLOCK\"" + acquire + rest).exit_code() == 3);
}

TEST_CASE("lock acquire --export=sh and --export=fish print what those shells evaluate") {
  RedisServer redis;
  const std::string acquire = "\"$RLOCK\" lock acquire k -n --while-pid $$ ";
  Process posix =
      sh(redis, "eval \"$(" + acquire + "--export=sh)\" || exit; [ \"$RLOCK_KEY\" = k ]; exit $?");
  CHECK(posix.exit_code() == 0);
  REQUIRE(eventually([&] { return !redis.has("k"); }));
  Process fish = sh(redis, acquire + "--export=fish; exit $?");
  CHECK(fish.exit_code() == 0);
  CHECK_MESSAGE(contains(fish.out(), "set -gx RLOCK_KEY 'k'\n"), fish.out());
  REQUIRE(eventually([&] { return !redis.has("k"); }));
  const bool has_fish = sh(redis, "command -v fish").exit_code() == 0;
  const auto in_fish = [&](const std::string& key) {
    return sh(redis,
              "exec fish --no-config -c 'set code ($RLOCK lock acquire " + key +
                  " -n --while-pid $fish_pid --export=fish | string collect); and eval $code; or exit\n"
                  "test \"$RLOCK_KEY\" = " +
                  key + "; and exit 3'")
        .exit_code();
  };
  if (has_fish) CHECK(in_fish("f") == 3);
  const std::string owner = acquired(redis, "k");
  Process failed = sh(redis, acquire + "--export=fish; exit 3");
  CHECK(failed.exit_code() == 3);
  CHECK_FALSE_MESSAGE(contains(failed.out(), "(exit"), failed.out());
  if (!has_fish) return skipped("there is no fish");
  CHECK(in_fish("k") == 75);
}

TEST_CASE("lock release finds no owner by itself inside rlock run: that hold is the run's") {
  RedisServer redis;
  Process run = sh(
      redis,
      "\"$RLOCK\" run -k k -- sh -c '\"$RLOCK\" lock release k; [ $? = 64 ] && \"$RLOCK\" lock status -q k'");
  CHECK_MESSAGE(run.exit_code() == 0, run.err());
}

TEST_CASE("release and renew take several keys, and say by their status that one of them is not held") {
  RedisServer redis;
  const std::string owner = acquired(redis, "a", {"b", "c"});
  CHECK(status_of(redis, {"lock", "renew", "a", "b", "c", "--owner", owner}) == 0);
  CHECK(status_of(redis, {"lock", "release", "a", "b", "--owner", owner}) == 0);
  CHECK_FALSE(redis.has("a"));
  CHECK_FALSE(redis.has("b"));
  CHECK(status_of(redis, {"lock", "release", "a", "c", "--owner", owner}) == 1);
  CHECK_FALSE(redis.has("c"));
}

TEST_CASE("lock acquire inside a run that holds one of two keys takes neither, and says so") {
  RedisServer redis;
  Rlock run = redis.rlock("run", "-k", "a", "--", "sh", "-c",
                          "\"$0\" lock acquire a b --while-pid $$; echo $?", rlock_binary());
  CHECK(run.exit_code() == 0);
  CHECK(run.out() == "64\n");
  CHECK(contains(run.err(), "a process above this one holds some of the keys, and not the others"));
  CHECK_FALSE(redis.has("a"));
  CHECK_FALSE(redis.has("b"));
}

TEST_CASE("run --owner joins the hold of an earlier step, and does not run when that is gone") {
  RedisServer redis;
  acquired(redis, "k", {"--owner", "ci-1"});
  Rlock step = redis.rlock("run", "-k", "k", "--owner", "ci-1", "--", "sh", "-c", "echo $RLOCK_OWNER");
  CHECK_MESSAGE(step.exit_code() == 0, step.err());
  CHECK(step.out() == "ci-1\n");
  CHECK(status_of(redis, {"lock", "status", "-q", "k", "--owner", "ci-1"}) == 0);
  CHECK(status_of(redis, {"lock", "release", "k", "--owner", "ci-1"}) == 0);
  Rlock late = redis.rlock("run", "-k", "k", "--owner", "ci-1", "--", "echo", "ran");
  CHECK(late.exit_code() == 75);
  CHECK(late.out().empty());
  CHECK(contains(late.err(), "'k' is not held by owner 'ci-1'"));
  CHECK_FALSE(redis.has("k"));
}

TEST_CASE("run --owner with another type, or another size of the pool, than the earlier step is 65") {
  RedisServer redis;
  acquired(redis, "k", {"--owner", "ci-1"});
  acquired(redis, "seats", {"--owner", "ci-1", "--permits", "3"});
  const auto refused = [&](const Words& options, const std::string& why) {
    Words words{"run", "--owner", "ci-1"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "echo", "ran"});
    Rlock step{words, redis.environment()};
    CHECK(step.exit_code() == 65);
    CHECK(step.out().empty());
    CHECK_MESSAGE(contains(step.err(), why), step.err());
  };
  refused({"-k", "k", "--permits", "3"}, "'k' holds a lock, not a pool of permits");
  refused({"-k", "k", "--count", "1"}, "'k' holds a lock, not a pool of permits");
  refused({"-k", "k", "--type", "plain"}, "'k' holds a lock, not a plain token lock");
  refused({"-k", "seats", "--permits", "4"}, "'seats' is a pool of 3 permits, not of 4");
  Rlock outer = redis.rlock("run", "-k", "seats", "--permits", "3", "--", rlock_binary(), "run", "-k",
                            "seats", "--permits", "7", "--", "echo", "ran");
  CHECK(outer.exit_code() == 65);
  CHECK(outer.out().empty());
}

TEST_CASE("of several keys, the one is named whose hold of an --owner is gone") {
  RedisServer redis;
  for (const std::string type : {"lock", "write", "read"}) {
    CAPTURE(type);
    acquired(redis, "a", {"--owner", "ci-1", "--type", type});
    Rlock late =
        redis.rlock("run", "--type", type, "-k", "a", "-k", "b", "--owner", "ci-1", "--", "echo", "ran");
    CHECK(late.exit_code() == 75);
    CHECK(contains(late.err(), "'b' is not held by owner 'ci-1'"));
    CHECK(status_of(redis, {"lock", "release", "a", "--owner", "ci-1"}) == 0);
  }
}

TEST_CASE("a script that has released one of its keys gets both again, and keeps the hold of the other") {
  RedisServer redis;
  for (const std::string type : {"lock", "write", "read"}) {
    CAPTURE(type);
    const std::string run = "\"$RLOCK\" run --type $TYPE -k a -k b -w 20s -- echo ran";
    Process steps =
        script(redis, type,
               "eval \"$(\"$RLOCK\" lock acquire a b --type $TYPE --while-pid $$ --export)\" || exit 9\n"
               "\"$RLOCK\" lock release b || exit 8\n" +
                   run + " || exit 7\n\"$RLOCK\" lock status -q a");
    CHECK_MESSAGE(steps.exit_code(40s) == 0, steps.err());
    CHECK(steps.out() == "ran\n");
    CHECK(eventually([&] { return !redis.has("a"); }, 10s));
  }
}

TEST_CASE("a run that has lost the hold of an --owner releases the keys that it holds itself") {
  RedisServer redis;
  Process run =
      sh(redis,
         "hold=$(\"$RLOCK\" lock acquire a --owner ci --lease 1m --export) || exit 9\neval \"$hold\"\n"
         "exec \"$RLOCK\" run -k a -k b --lease 9s -- sleep 60");
  REQUIRE(eventually([&] { return redis.has("b"); }, 10s));
  redis.del("a");
  CHECK_MESSAGE(run.exit_code(20s) == 125, run.err());
  CHECK_FALSE(redis.has("b"));
  Rlock history = redis.rlock("history", "b");
  CHECK(history.exit_code() == 0);
  CHECK_MESSAGE(contains(history.out(), "lost: the server says that 'a' is not ours any more"),
                history.out());
}

TEST_CASE("the guardian of a run that was stopped past its lease ends the keys of the run itself") {
  RedisServer redis;
  Process run =
      sh(redis,
         "hold=$(\"$RLOCK\" lock acquire a --owner ci --lease 1m --export) || exit 9\neval \"$hold\"\n"
         "exec \"$RLOCK\" run -k a -k b --lease 3s -- sh -c 'echo at work; sleep 60'");
  REQUIRE(
      eventually([&] { return contains(run.out(), "at work"); }, 10s));  // behind the start of the guardian
  run.signal(SIGSTOP);
  REQUIRE(eventually(
      [&] {
        Rlock history = redis.rlock("history", "b");
        return history.exit_code() == 0 &&
               contains(history.out(), "rlock was stopped, and could not renew it");
      },
      20s));
  CHECK(redis.has("a"));
  CHECK_FALSE(redis.has("b"));
  run.signal(SIGCONT);
  CHECK(run.exit_code(20s) == 125);
}

TEST_CASE("a run that has lost the hold of an --owner leaves it to a retry with the same --owner") {
  for (const std::string type : {"lock", "fair", "fenced", "read", "write", "spin", "plain"}) {
    CAPTURE(type);
    RedisServer redis;
    TempDir folder;
    Process::Options options;
    options.env["TYPE"] = type;
    options.env["FOLDER"] = folder.path();
    acquired(redis, "k", {"--owner", "ci", "--type", type});
    Process run = sh(redis,
                     "exec \"$RLOCK\" run --owner ci --type $TYPE -k k -- sh -c '"
                     "trap \"until [ -e $FOLDER/go ]; do sleep 0.01; done; exit 0\" TERM\n"
                     ": >$FOLDER/on; while :; do sleep 0.01; done'",
                     options);
    REQUIRE(eventually([&] { return ::access((folder / "on").c_str(), F_OK) == 0; }, 20s));
    REQUIRE(status_of(redis, {"unlock", "-y", "--type", type, "k"}) == 0);
    REQUIRE(eventually([&] { return contains(run.err(), "lost 'k'"); }, 20s));
    acquired(redis, "k", {"--owner", "ci", "--type", type});
    write_file(folder / "go", "");
    CHECK_MESSAGE(run.exit_code(20s) == 125, run.err());
    CHECK(status_of(redis, {"lock", "status", "-q", "k", "--owner", "ci"}) == 0);
    CHECK(status_of(redis, {"lock", "release", "k", "--owner", "ci"}) == 0);
    CHECK_FALSE(redis.has("k"));
  }
}
