// Profiles in configuration files, and rlock config, which prints each setting and its source.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/redis_server.h"
#include "support/result.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// A configuration file, and an environment that names it.
struct Configured {
  TempDir folder;
  Process::Options options = Rlock::clean_environment();

  explicit Configured(const std::string& text) {
    write_file(path(), text);
    ::chmod(path().c_str(), 0600);
    options.env["RLOCK_CONFIG"] = path();
  }

  std::string path() const { return folder / "config"; }

  /// A setting's value and source: "value | from".
  std::string setting(const std::string& name, Words words = {}) const {
    words.insert(words.begin(), {"config", "--json"});
    const Result config = result_of(words, options);
    REQUIRE_MESSAGE(config.status == 0, config.err);
    const auto document = nlohmann::json::parse(config.out);
    for (const auto& row : document["settings"])
      if (row["name"] == name)
        return row["value"].get<std::string>() + " | " + row["from"].get<std::string>();
    return "";
  }
};

const std::string kFile =
    "url = redis://production:6379\n"
    "prefix = app:\n"
    "\n"
    "[staging]\n"
    "# another server\n"
    "url = redis://user:CANARY@staging:7000/2\n"
    "\n"
    "[test.1]\n"
    "prefix = test:\n"
    "connect-timeout = 1m30s\n";

}  // namespace

TEST_CASE("RLOCK_LEASE and RLOCK_WAIT set untyped options, and rlock config shows them") {
  RedisServer redis;
  Process::Options options = redis.environment();
  CHECK(contains(result_of({"config"}, options).out, "wait               forever"));
  options.env["RLOCK_LEASE"] = "9m";
  options.env["RLOCK_WAIT"] = "1s";
  CHECK(result_of({"run", "-k", "k", "--", "printenv", "RLOCK_LEASE_MS"}, options).out == "540000\n");
  CHECK(result_of({"run", "--lease", "50s", "-k", "k", "--", "printenv", "RLOCK_LEASE_MS"}, options).out ==
        "50000\n");
  CHECK(result_of({"flock", "k", "printenv", "RLOCK_LEASE_MS"}, options).out == "540000\n");
  CHECK(result_of({"lock", "acquire", "k", "--lease", "1m"}, options).status == 0);
  const auto began = std::chrono::steady_clock::now();
  CHECK(result_of({"run", "-k", "k", "--", "true"}, options).status == 75);
  CHECK(result_of({"flock", "-E", "9", "k2", "true"}, options).status == 0);
  CHECK(result_of({"lock", "wait", "k"}, options).status == 75);
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds{20});
  const Result typed = result_of({"run", "-n", "-k", "k", "--", "true"}, options);
  CHECK(typed.status == 75);
  CHECK_FALSE_MESSAGE(contains(typed.err, "the last one counts"), typed.err);
  const std::string config = result_of({"config"}, options).out;
  CHECK_MESSAGE(contains(config, "9m     "), config);
  CHECK(contains(config, "RLOCK_WAIT\n"));
  options.env["RLOCK_WAIT"] = "soon";
  const Result wrong = result_of({"run", "-k", "k", "--", "true"}, options);
  CHECK(wrong.status == 78);
  CHECK(wrong.err.find("rlock: RLOCK_WAIT: 'soon' is not a duration") == 0);
  CHECK(result_of({"run", "-w", "1s", "-k", "free", "--", "true"}, options).status == 0);
}

TEST_CASE("a configured lease counts only for locks that rlock renews") {
  RedisServer redis;
  Process::Options options = redis.environment();
  options.env["RLOCK_LEASE"] = "9m";
  const Result none = result_of({"lock", "acquire", "k"}, options);
  CHECK(none.status == 64);
  CHECK_MESSAGE(contains(none.err, "RLOCK_LEASE=9m is for locks that rlock renews"), none.err);
  CHECK(redis.pttl("k") < 0);
  const Configured configured{"lease = 8m\n"};
  options.env.erase("RLOCK_LEASE");
  options.env["RLOCK_CONFIG"] = configured.path();
  CHECK(result_of({"lock", "acquire", "k"}, options).status == 64);
  Process script{{"/bin/sh", "-c", rlock_binary() + " lock acquire k --while-pid $$; exec sleep 60"},
                 options};
  CHECK(eventually([&] { return redis.pttl("k") > 420'000; }));
}

TEST_CASE("quiet and verbose in the configuration file work as their options do") {
  RedisServer redis;
  const auto said = [&](const Words& words, const std::string& setting) {
    const Configured configured{"url = " + redis.url() + "\n" + setting + "\n"};
    return result_of(words, configured.options).err;
  };
  const Words unlock{"unlock", "--yes", "free"}, run{"run", "-k", "free", "--", "true"};
  for (const char* setting : {"", "quiet = no", "verbose = no"}) {
    CHECK(said(unlock, setting) == "rlock: 'free' is free\n");
    CHECK(said(run, setting).empty());
  }
  CHECK(said(unlock, "quiet = yes").empty());
  CHECK(contains(said(run, "verbose = yes"), "released 'free'"));
}

TEST_CASE("the command line and a profile overrule quiet and verbose, and rlock config prints both") {
  const Configured configured{"url = unix:///nonexistent/redis.sock\nquiet = yes\n\n[loud]\nquiet = no\n"};
  const std::string path = configured.path();
  CHECK(configured.setting("quiet") == "yes | " + path);
  CHECK(configured.setting("verbose") == "no | default");
  CHECK(configured.setting("quiet", {"--profile", "loud"}) == "no | [loud] in " + path);
  CHECK(configured.setting("verbose", {"-v"}) == "yes | --verbose");
  const auto skips = [&](const Words& more) {
    Words words{"run", "-n", "-k", "k", "--if-unreachable", "skip"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", "true"});
    return contains(result_of(words, configured.options).err, "the command does not run");
  };
  CHECK_FALSE(skips({}));
  CHECK(skips({"-v"}));
  CHECK(skips({"--profile", "loud"}));
}

TEST_CASE("of quiet and verbose only one is in force: the more important source counts") {
  const std::string url = "url = unix:///nonexistent/redis.sock\n";
  const Configured configured{url +
                              "quiet = yes\n\n[loud]\nverbose = yes\n\n[both]\nquiet = yes\nverbose = yes\n"};
  const auto both = [&](const Words& words) {
    const auto value = [&](const char* name) {
      const std::string setting = configured.setting(name, words);
      return setting.substr(0, setting.find(' '));
    };
    return value("quiet") + " " + value("verbose");
  };
  CHECK(both({}) == "yes no");
  CHECK(both({"-v"}) == "no yes");
  CHECK(both({"-q", "-v"}) == "no yes");
  CHECK(both({"-v", "-q"}) == "yes no");
  CHECK(both({"--profile", "loud"}) == "no yes");
  CHECK(both({"--profile", "both"}) == "yes no");
  const Words run{"run", "-n", "-k", "k", "--profile", "loud", "--if-unreachable", "run", "--", "true"};
  CHECK(contains(result_of(run, configured.options).err, "rlock: +"));  // a line of --verbose
}

TEST_CASE("rlock config refuses the servers that every verb refuses, with the same words") {
  const Process::Options options = Rlock::clean_environment();
  const Words twice{"--url", "redis://h", "--url", "redis://h:6379"}, tls{"--url", "redis://h", "--insecure"},
      database{"--url", "redis-cluster://h", "--db", "3"}, alone{"--url", "rediss://h", "--cert", "f"};
  for (const Words& servers : {twice, tls, database, alone}) {
    Words config{"config"}, inspect{"inspect", "k"};
    config.insert(config.end(), servers.begin(), servers.end());
    inspect.insert(inspect.end(), servers.begin(), servers.end());
    const Result shown = result_of(config, options), refused = result_of(inspect, options);
    CHECK(shown.status == 64);
    CHECK(shown.err == refused.err);
    CHECK(shown.out.empty());
  }
}

TEST_CASE("settings of a file that contradict each other are mistakes of the file: 78") {
  const std::string longest(4096, 'x');
  const std::vector<std::tuple<std::string, std::string, std::string>> rows{
      {"url = redis://h\nurl = redis://h:6379\n", "url in ", ": redis://h:6379 is given twice"},
      {"url = redis+cluster://h\ndb = 3\n", "db in ", ": a cluster has no databases"},
      {"url = rediss://h\ncert = /f\n", "cert in ", " and --tls-key need each other"},
      {"url = rediss://h\nsni = .test\n", "sni in ", ": expected the name of a host"},
      {"url = redis://h\naskpass = yes\n", "askpass in ", ": there is no terminal to ask on"},
      {"url = redis://h\nprefix = " + longest + "\n", "prefix in ", " and key together have more than"}};
  for (const auto& [lines, before, behind] : rows) {
    Configured configured{lines};
    configured.options.own_session = true;  // without a terminal
    const Result refused = result_of({"inspect", "k"}, configured.options);
    CHECK(refused.status == 78);
    CHECK_MESSAGE(contains(refused.err, before + configured.path() + behind), refused.err);
  }
}

TEST_CASE("a profile can switch off askpass of its file") {
  const Configured configured{"url = redis://h\naskpass = yes\n\n[cron]\naskpass = no\n"};
  CHECK(configured.setting("password") == "asked for | " + configured.path());
  CHECK(configured.setting("password", {"--profile", "cron"}).empty());
}

TEST_CASE("the configuration file sets defaults of options; typed options overrule them") {
  RedisServer redis;
  Configured configured{
      "url = " + redis.url() +
      "\nlease = 45s\nwait = 1500ms\nkill-after = 2s\nmax-hold = 1h\nbackoff = 5..50ms\n"
      "sync-replicas = 0\nif-unreachable = fail\nhistory = no\n\n[ci]\nlease = 2m\nwait = 0\n"};
  const std::string file = configured.path();
  const auto lease = [&](Words words) {
    words.insert(words.begin(), "run");
    for (const char* word : {"-k", "k", "--", "printenv", "RLOCK_LEASE_MS"}) words.emplace_back(word);
    return result_of(words, configured.options).out;
  };
  CHECK(lease({}) == "45000\n");
  CHECK(lease({"--profile", "ci"}) == "120000\n");
  CHECK(lease({"--lease", "5s"}) == "5000\n");
  CHECK(configured.setting("lease") == "45s | " + file);
  CHECK(configured.setting("lease", {"--profile", "ci"}) == "2m | [ci] in " + file);
  CHECK(configured.setting("wait", {"--profile", "ci"}) == "0 | [ci] in " + file);
  CHECK(configured.setting("wait") == "1500ms | " + file);
  CHECK(configured.setting("kill-after") == "2s | " + file);
  CHECK(configured.setting("max-hold") == "1h | " + file);
  CHECK(configured.setting("backoff") == "5..50ms | " + file);
  CHECK(configured.setting("sync-replicas") == "0 | " + file);
  CHECK(configured.setting("if-unreachable") == "fail | " + file);
  CHECK(configured.setting("history") == "no | " + file);

  SUBCASE("the environment stands between the two") {
    configured.options.env["RLOCK_LEASE"] = "9s";
    CHECK(lease({}) == "9000\n");
    CHECK(lease({"--lease", "5s"}) == "5000\n");
    CHECK(configured.setting("lease") == "9s | RLOCK_LEASE");
    configured.options.env["RLOCK_PROFILE"] = "ci";
    CHECK(lease({}) == "9000\n");
  }
  SUBCASE("every verb that waits waits so long") {
    Process holder{{rlock_binary(), "run", "-k", "k", "--", "sleep", "60"}, configured.options};
    REQUIRE(eventually([&] { return redis.pttl("k") > 0; }));
    for (const Words& words : {Words{"run", "-k", "k", "--", "true"}, Words{"lock", "wait", "k"},
                               Words{"lock", "acquire", "k", "--lease", "5s"}}) {
      const Result waited = result_of(words, configured.options);
      CHECK(waited.status == 75);
      CHECK_MESSAGE(contains(waited.err, "gave up after 1"), waited.err);
    }
    CHECK(result_of({"run", "-n", "-k", "k", "--", "true"}, configured.options).status == 75);
  }
  SUBCASE("a verb that has no such option ignores it, and so does a type that does not poll") {
    CHECK(result_of({"list"}, configured.options).status == 1);  // no key exists
    CHECK(result_of({"run", "--type", "plain", "-k", "p", "--", "true"}, configured.options).status == 0);
    CHECK(result_of({"run", "--backoff", "1..2ms", "-k", "p", "--", "true"}, configured.options).status ==
          64);
  }
}

TEST_CASE("max-hold and kill-after of the configuration file stop the command; flock has them, too") {
  RedisServer redis;
  const Configured configured{"url = " + redis.url() + "\nmax-hold = 200ms\nkill-after = 100ms\n"};
  const char* const stubborn = "trap '' TERM; echo begun; while :; do sleep 1; done";
  for (const Words& words :
       {Words{"run", "-k", "k", "--", "sh", "-c", stubborn}, Words{"flock", "k2", "sh", "-c", stubborn}}) {
    const Result stopped = result_of(words, configured.options);
    CHECK(stopped.status == 124);
    CHECK_MESSAGE(contains(stopped.err, "SIGTERM now, SIGKILL in "), stopped.err);
    CHECK(
        stopped.err.starts_with("rlock: max-hold = 200ms in " + configured.path() + " line 2 is over for "));
    CHECK_MESSAGE(contains(stopped.err, "ms\n"),
                  stopped.err);  // not the default of 5s
  }
}

TEST_CASE(
    "a message names a default as its variable or its file gives it, and an option only if it was typed") {
  RedisServer redis;
  REQUIRE(result_of({"lock", "acquire", "busy", "--lease", "1m"}, redis.environment()).status == 0);
  const auto expect = [](const Words& words, const Process::Options& options, int status,
                         const std::string& text) {
    const Result result = result_of(words, options);
    CAPTURE(result.err);
    CHECK(result.status == status);
    CHECK(contains(result.err, text));
  };
  const Words run{"run", "-k", "k", "--", "true"}, wait{"run", "-k", "busy", "--", "true"};
  const std::string no_time =
      " leaves no time to stop the command before the lock can end; it needs 774ms or more\n";

  Process::Options options = redis.environment();
  options.env["RLOCK_LEASE"] = "500ms";
  options.env["RLOCK_WAIT"] = "0";
  expect(run, options, 78, "rlock: RLOCK_LEASE=500ms" + no_time);
  expect({"config"}, options, 0, "rlock: RLOCK_LEASE=500ms" + no_time);
  expect({"run", "--lease", "500ms", "-k", "k", "--", "true"}, options, 78, "rlock: --lease 500ms" + no_time);
  options.env["RLOCK_LEASE"] = "10s";
  expect({"run", "--lost-grace", "9s", "-k", "k", "--", "true"}, options, 78,
         "rlock: --lost-grace 9s needs --lease 19s or more (RLOCK_LEASE=10s is too short)\n");
  expect({"config"}, options, 0, "");
  options.env.erase("RLOCK_LEASE");
  expect(wait, options, 75, "rlock: not waiting (RLOCK_WAIT=0): 'busy' is held by ");
  options.env["RLOCK_WAIT"] = "1s";
  expect(wait, options, 75, " (RLOCK_WAIT=1s): 'busy' is held by ");
  options.env["RLOCK_WAIT"] = "0";
  expect({"run", "-n", "-k", "busy", "--", "true"}, options, 75,
         "rlock: not waiting (-n): 'busy' is held by ");
  expect({"run", "--newest", "-k", "k", "--", "true"}, options, 64, "rlock: --newest with RLOCK_WAIT=0: ");

  const Configured file{"url = " + redis.url() +
                        "\nlease = 500ms\nwait = 2s\n[once]\nwait = 0\n[held]\nlease = 5s\n" +
                        "max-hold = 1m\n[synced]\nlease = 5s\nsync-replicas = 1\nsync-timeout = 20ms\n" +
                        "[away]\nlease = 5s\nurl = redis://127.0.0.1:1\nif-unreachable = skip\n"};
  const auto in = [&](const std::string& profile, Words words) {
    words.insert(words.begin() + 1, {"--profile", profile});
    return words;
  };
  expect(run, file.options, 78, "rlock: lease = 500ms in " + file.path() + " line 2" + no_time);
  expect(in("once", {"lock", "wait", "busy"}), file.options, 75,
         "rlock: not waiting (wait = 0 in [once] in " + file.path() + " line 5): ");
  expect(in("held", {"run", "--min-hold", "2m", "-k", "k", "--", "true"}), file.options, 78,
         "rlock: --min-hold 2m is longer than max-hold = 1m in [held] in " + file.path() + " line 8\n");
  expect(in("synced", run), file.options, 69,
         "only 0 of 1 replicas have it (sync-replicas = 1 in [synced] in " + file.path() + " line 11)");
  expect({"config"}, file.options, 0, "rlock: lease = 500ms in " + file.path() + " line 2" + no_time);
  expect(in("away", run), file.options, 0,
         "the command does not run (if-unreachable = skip in [away] in " + file.path() + " line 16)");
}

TEST_CASE("a message about a server names the variable or the file that has named it") {
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = "redis://127.0.0.1:1 redis://127.0.0.1:2 redis://127.0.0.1:3";
  options.env["RLOCK_PREFIX"] = std::string(4000, 'p');
  const auto refusal = [&](Words words) { return result_of(words, options).err; };
  CHECK(refusal({"run", "--newest", "-k", "k", "--", "true"})
            .starts_with("rlock: --newest with several servers (RLOCK_URL): "));
  CHECK(refusal({"run", "-k", std::string(200, 'k'), "--", "true"})
            .starts_with("rlock: RLOCK_PREFIX and key together have more than "));
  CHECK(refusal({"latch", "status", "k"}) == "rlock: a latch is on one server; name one (RLOCK_URL)\n");
  CHECK(refusal({"sem", "status", "k"}) ==
        "rlock: the permits of a key are on one server; name one (RLOCK_URL)\n");
  CHECK(contains(refusal({"inspect", "k"}), "; see RLOCK_URL\n"));
  CHECK(contains(refusal({"run", "-k", "k", "--", "true"}), "; see RLOCK_URL, or --wait to wait for it\n"));
  const Configured file{"url = redis+cluster://127.0.0.1:1\ndb = 3\n"};
  CHECK(result_of({"run", "-k", "k", "--", "true"}, file.options)
            .err.starts_with("rlock: db in " + file.path() + ": a cluster has no databases"));
  RedisServer redis;
  const Configured database{"url = " + redis.url() + "\ndb = 99\n"};
  CHECK(contains(result_of({"list"}, database.options).err, "; see db in " + database.path() + "\n"));
  const Configured password{"url = " + redis.url() + "\npassword-file = /nonesuch\n"};
  CHECK(contains(result_of({"list"}, password.options).err,
                 "password file '/nonesuch' (password-file in " + password.path() + "): No such file"));
  options = redis.environment();
  for (const std::string variable : {"REDISCLI_AUTH", "VALKEYCLI_AUTH", "RLOCK_PASSWORD"}) {
    options.env[variable] = "wrong";
    CHECK(contains(refusal({"list"}), "; the password is from " + variable + "\n"));
  }
  RedisServer closed{{.tcp = true, .config = {"requirepass right"}}};
  CHECK(contains(refusal({"list", "--url", closed.tcp_url()}), "; the password is from RLOCK_PASSWORD\n"));
  const std::string with_password = "redis://:other@" + closed.tcp_url().substr(8);
  CHECK_FALSE(contains(refusal({"list", "--url", with_password}), "the password is from"));
  options.env["RLOCK_CONFIG"] = "/nonesuch";
  CHECK(refusal({"list"}) == "rlock: config file '/nonesuch' (RLOCK_CONFIG): No such file or directory\n");
  options.env.erase("RLOCK_CONFIG");
  options.env["RLOCK_PROFILE"] = "nonesuch";
  CHECK(refusal({"list"}).starts_with("rlock: RLOCK_PROFILE: there is no profile 'nonesuch'"));
  options = redis.environment();
  options.env["RLOCK_PASSWORD_FILE"] = "/nonesuch";
  CHECK(contains(refusal({"list"}), "password file '/nonesuch' (RLOCK_PASSWORD_FILE): No such file"));
}

TEST_CASE("rlock config refuses the variables that every other verb refuses, and names them") {
  for (const auto& [variable, value, status] :
       {std::tuple{"RLOCK_LEASE", "bad", 78}, std::tuple{"RLOCK_WAIT", "soon", 78},
        std::tuple{"RLOCK_LEASE", "0", 78}, std::tuple{"RLOCK_HISTORY", "perhaps", 78},
        std::tuple{"RLOCK_URL", "nonsense", 64}}) {
    Process::Options options = Rlock::clean_environment();
    options.env[variable] = value;
    for (const Words& words :
         {Words{"config"}, Words{"config", "--json"}, Words{"run", "-k", "k", "--", "true"}}) {
      const Result refused = result_of(words, options);
      CAPTURE(refused.err);
      CHECK(refused.status == status);
      CHECK(refused.err.starts_with("rlock: " + std::string{variable} + ": "));
      CHECK(refused.out.empty());
    }
  }
}

TEST_CASE("the configuration file sets fair-wait-timeout for fair locks, and sync-timeout") {
  RedisServer redis;
  const Configured configured{"url = " + redis.url() + "\nfair-wait-timeout = 123s\nsync-timeout = 3s\n"};
  CHECK(configured.setting("fair-wait-timeout") == "123s | " + configured.path());
  CHECK(configured.setting("sync-timeout") == "3s | " + configured.path());
  CHECK(result_of({"run", "-k", "k", "--", "true"}, configured.options).status == 0);  // not a fair lock
  CHECK(result_of({"flock", "k2", "true"}, configured.options).status == 0);
  Monitor monitor{redis};
  for (const Words& words : {Words{"run", "--fair", "-k", "f", "--", "true"},
                             Words{"lock", "acquire", "--fair", "g", "--lease", "1m"}}) {
    CHECK(result_of(words, configured.options).status == 0);
    const auto commands = monitor.commands();
    CHECK(std::ranges::any_of(commands,
                              [](const std::string& command) { return contains(command, "\"123000\""); }));
  }
  CHECK(
      result_of({"run", "-k", "k", "--", "true"}, Configured{"fair-wait-timeout = 10ms\n"}.options).status ==
      78);
}

TEST_CASE("a default that cannot be meant is 78 with file and line, even for verbs without that option") {
  const Configured configured{"url = redis://127.0.0.1:1\n\nwait = soon\n"};
  for (const Words& words : {Words{"run", "-k", "k", "--", "true"}, Words{"list"}, Words{"config"}}) {
    const Result refused = result_of(words, configured.options);
    CHECK(refused.status == 78);
    CHECK_MESSAGE(
        refused.err.starts_with("rlock: config file '" + configured.path() + "' line 3: wait: 'soon' "),
        refused.err);
  }
}

TEST_CASE("if-unreachable of the configuration file counts for run and flock, and a profile overrules it") {
  const Configured configured{
      "url = redis://127.0.0.1:1\nif-unreachable = skip\n[careless]\nif-unreachable = run\n"};
  const Words behind{"-k", "k", "--", "sh", "-c", "echo $RLOCK_HELD"};
  const auto with = [&](Words words) {
    words.insert(words.end(), behind.begin(), behind.end());
    return result_of(words, configured.options);
  };
  const Result skipped = with({"run"});
  CHECK(skipped.status == 0);
  CHECK(skipped.out.empty());
  CHECK(with({"run", "--profile", "careless"}).out == "0\n");
  CHECK(with({"run", "--if-unreachable", "fail"}).status == 69);
  CHECK(result_of({"flock", "k", "true"}, configured.options).status == 0);
  CHECK(result_of({"lock", "acquire", "k", "--lease", "1m"}, configured.options).status == 69);
}

TEST_CASE("a value in quotes is refused, and the message shows how to write it") {
  const Configured config{"url = \"redis://h:1\"\n"};
  const Result result = result_of({"config"}, config.options);
  CHECK(result.status == 78);
  CHECK_MESSAGE(contains(result.err, "line 1: url: write the value without quotes"), result.err);
}

TEST_CASE("a profile overrules settings outside of profiles") {
  const Configured configured{kFile};
  const std::string file = configured.path();
  CHECK(configured.setting("url") == "redis://production:6379 | " + file);
  CHECK(configured.setting("profile").empty());
  CHECK(configured.setting("url", {"--profile", "staging"}) ==
        "redis://***@staging:7000/2 | [staging] in " + file);
  CHECK(configured.setting("prefix", {"--profile", "staging"}) == "app: | " + file);
  CHECK(configured.setting("prefix", {"--profile", "test.1"}) == "test: | [test.1] in " + file);
  CHECK(configured.setting("connect-timeout", {"--profile", "test.1"}) == "90s | [test.1] in " + file);
  CHECK(configured.setting("connect-timeout") == "2s | default");
  CHECK(configured.setting("profile", {"--profile", "test.1"}) == "test.1 | --profile");
}

TEST_CASE("RLOCK_URL overrules the profile that RLOCK_PROFILE names, but not one that was typed") {
  Configured configured{kFile};
  configured.options.env["RLOCK_PROFILE"] = "test.1";
  CHECK(configured.setting("prefix") == "test: | [test.1] in " + configured.path());
  CHECK(configured.setting("profile") == "test.1 | RLOCK_PROFILE");
  configured.options.env["RLOCK_PROFILE"] = "staging";
  configured.options.env["RLOCK_URL"] = "redis://other";
  CHECK(configured.setting("url") == "redis://other:6379 | RLOCK_URL");
  CHECK(configured.setting("url", {"--profile", "staging"}) ==
        "redis://***@staging:7000/2 | [staging] in " + configured.path());
  CHECK(configured.setting("url", {"--profile", "staging", "--url", "redis://typed"}) ==
        "redis://typed:6379 | --url");
}

TEST_CASE("an unknown profile is 78, and so is a section that no file may have") {
  const Configured configured{kFile};
  const Result none = result_of({"inspect", "--profile", "stagin"}, configured.options);
  CHECK(none.status == 78);
  CHECK(none.err == "rlock: there is no profile 'stagin'; there are: staging, test.1\n");
  for (const auto& [text, why] :
       {std::pair{"[a b]\n", "line 1: expected [NAME], of letters"},
        std::pair{"[a\n", "line 1: expected [NAME], of letters"},
        std::pair{"[a]\n[a]\n", "line 2: [a] appears twice"},
        std::pair{"[a]\nurl = nonsense://x\n", "line 2: url: "},
        std::pair{"[a]\nprofile = b\n", "line 2: profile is for the command line only"}}) {
    CAPTURE(text);
    const Result refused = result_of({"config"}, Configured{text}.options);
    CHECK(refused.status == 78);
    CHECK_MESSAGE(contains(refused.err, why), refused.err);
  }
  Process::Options bare = Rlock::clean_environment();
  bare.env["RLOCK_CONFIG"] = "/dev/null";
  CHECK(result_of({"config", "--profile", "x"}, bare).status == 78);
}

TEST_CASE("the command of a run under a profile learns the profile") {
  RedisServer redis;
  const Configured configured{"[here]\nurl = " + redis.url() + "\nprefix = app:\n"};
  Process::Options options = configured.options;
  const Result run = result_of({"run", "--profile", "here", "-k", "deploy", "--", "sh", "-c",
                                "echo $RLOCK_PROFILE $RLOCK_LOCK; " + rlock_binary() + " list -q"},
                               options);
  CHECK(run.status == 0);
  CHECK(run.out == "here app:deploy\ndeploy\n");
}

TEST_CASE("config names each source, and never a password") {
  Configured configured{kFile};
  configured.options.env["RLOCK_PASSWORD"] = "CANARY-2";
  CHECK(configured.setting("password") == "not shown | RLOCK_PASSWORD");
  CHECK(configured.setting("password", {"--password-file", "/run/secret"}) ==
        "in /run/secret | --password-file");
  CHECK(configured.setting("tls", {"--tls"}) == "yes | --tls");
  CHECK(configured.setting("db", {"--db", "3"}) == "3 | --db");
  CHECK(configured.setting("config") == configured.path() + " | RLOCK_CONFIG");
  const Result text = result_of({"config", "--profile", "staging"}, configured.options);
  CHECK(text.status == 0);
  CHECK(text.out.starts_with("url                redis://***@staging:7000/2"));
  CHECK_FALSE(contains(text.out + text.err, "CANARY"));
}

TEST_CASE(
    "askpass of the configuration file asks for no password that the command line or RLOCK_PASSWORD gives") {
  RedisServer redis{{.config = {"requirepass CANARY"}}};
  Configured configured{"askpass = yes\n"};
  CHECK(configured.setting("password") == "asked for | " + configured.path());
  configured.options.env["RLOCK_URL"] = redis.url();
  const std::string file = configured.folder / "password";
  write_file(file, "CANARY");
  ::chmod(file.c_str(), 0600);
  CHECK(configured.setting("password", {"--password-file", file}) == "in " + file + " | --password-file");
  CHECK(result_of({"inspect", "k", "--password-file", file}, configured.options).status == 0);
  configured.options.env["RLOCK_PASSWORD"] = "CANARY";
  CHECK(configured.setting("password") == "not shown | RLOCK_PASSWORD");
  CHECK(result_of({"inspect", "k"}, configured.options).status == 0);
  CHECK(configured.setting("password", {"--askpass"}) == "asked for | --askpass");
}

TEST_CASE("a remedy names the server if the configuration file with its URL was typed") {
  RedisServer redis;
  Configured configured{"url = " + redis.url() + "\n"};
  configured.options.env.erase("RLOCK_CONFIG");
  redis.cli({"SET", "stale", "8d1f2c3a-1111-4222-8333-444455556666:57"});
  const Result run =
      result_of({"run", "--config", configured.path(), "-n", "--type", "plain", "-k", "stale", "true"},
                configured.options);
  CHECK(run.status == 75);
  CHECK_MESSAGE(contains(run.err, "rlock unlock --type plain --url " + redis.url() + " stale"), run.err);
}

TEST_CASE("config says that a password in the URL counts, and not that of a variable or a file") {
  Configured configured{"password-file = /run/secret\n"};
  configured.options.env["RLOCK_PASSWORD"] = "CANARY-2";
  configured.options.env["RLOCK_URL"] = "redis://:CANARY-3@db1";
  CHECK(configured.setting("password") == "in the URL | RLOCK_URL");
  configured.options.env["RLOCK_URL"] = "redis://:CANARY-3@db1 redis://db2";
  const Result several = result_of({"config"}, configured.options);
  CHECK(contains(several.out, "in the URL"));
  CHECK(contains(several.out, "RLOCK_PASSWORD"));  // for the second server
  CHECK_FALSE(contains(several.out, "CANARY"));
}

TEST_CASE("rlock config reports that no server was named") {
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_CONFIG"] = "/dev/null";
  const Result config = result_of({"config"}, options);
  CHECK(config.out.starts_with("url                redis://127.0.0.1:6379  default: no server was named\n"));
}
