// Profiles in configuration files, and rlock config, which says what is in force and why.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "support/cli.h"
#include "support/eventually.h"
#include "support/redis_server.h"

namespace rlock::test {
namespace {

struct Result {
  int status;
  std::string out, err;
};

Result result_of(const Words& words, const Process::Options& options) {
  Rlock rlock{words, options};
  const int status = rlock.exit_code();
  return {status, rlock.out(), rlock.err()};
}

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

  /// "value | from" of a setting.
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

TEST_CASE("RLOCK_LEASE and RLOCK_WAIT say what is not typed, and rlock config shows them") {
  RedisServer redis;
  Process::Options options = redis.environment();
  CHECK(result_of({"config"}, options).out.find("wait             forever") != std::string::npos);
  options.env["RLOCK_LEASE"] = "9m";
  options.env["RLOCK_WAIT"] = "100ms";
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
  CHECK_MESSAGE(typed.err.find("the last one counts") == std::string::npos, typed.err);
  const std::string config = result_of({"config"}, options).out;
  CHECK_MESSAGE(config.find("9m     ") != std::string::npos, config);
  CHECK(config.find("RLOCK_WAIT\n") != std::string::npos);
  options.env["RLOCK_WAIT"] = "soon";
  const Result wrong = result_of({"run", "-k", "k", "--", "true"}, options);
  CHECK(wrong.status == 78);
  CHECK(wrong.err.find("rlock: RLOCK_WAIT: 'soon' is not a duration") == 0);
  CHECK(result_of({"run", "-w", "1s", "-k", "free", "--", "true"}, options).status == 0);
}

TEST_CASE("a lease that is configured is for locks that rlock renews") {
  RedisServer redis;
  Process::Options options = redis.environment();
  options.env["RLOCK_LEASE"] = "9m";
  const Result none = result_of({"lock", "acquire", "k"}, options);
  CHECK(none.status == 64);
  CHECK_MESSAGE(none.err.find("RLOCK_LEASE and the configured lease are for locks that rlock renews") !=
                    std::string::npos,
                none.err);
  CHECK(redis.pttl("k") < 0);
  const Configured configured{"lease = 8m\n"};
  options.env.erase("RLOCK_LEASE");
  options.env["RLOCK_CONFIG"] = configured.path();
  CHECK(result_of({"lock", "acquire", "k"}, options).status == 64);
  Process script{{"/bin/sh", "-c", rlock_binary() + " lock acquire k --while-pid $$; exec sleep 60"},
                 options};
  CHECK(eventually([&] { return redis.pttl("k") > 420'000; }));
}

TEST_CASE("the configuration file says defaults of options; what is typed overrules them") {
  RedisServer redis;
  Configured configured{
      "url = " + redis.url() +
      "\nlease = 45s\nwait = 100ms\nkill-after = 2s\nmax-hold = 1h\nbackoff = 5..50ms\n"
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
  CHECK(configured.setting("wait") == "100ms | " + file);
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
      CHECK_MESSAGE(waited.err.find("gave up after 1") != std::string::npos, waited.err);
    }
    CHECK(result_of({"run", "-n", "-k", "k", "--", "true"}, configured.options).status == 75);
  }
  SUBCASE("a verb that has no such option ignores it, and so does a type that does not poll") {
    CHECK(result_of({"list"}, configured.options).status == 1);  // there is no key
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
    CHECK_MESSAGE(stopped.err.find("SIGTERM now, SIGKILL in ") != std::string::npos, stopped.err);
    CHECK_MESSAGE(stopped.err.find("ms\n") != std::string::npos,
                  stopped.err);  // not the 5s that are built in
  }
}

TEST_CASE("78 with file and line: a default that cannot be meant, also for verbs without that option") {
  const Configured configured{"url = redis://127.0.0.1:1\n\nwait = soon\n"};
  for (const Words& words : {Words{"run", "-k", "k", "--", "true"}, Words{"list"}, Words{"config"}}) {
    const Result refused = result_of(words, configured.options);
    CHECK(refused.status == 78);
    CHECK_MESSAGE(
        refused.err.starts_with("rlock: config file '" + configured.path() + "' line 3: wait: 'soon' "),
        refused.err);
  }
}

TEST_CASE("--if-unreachable in the configuration file") {
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

TEST_CASE("a value in quotes is refused, and told how to be written") {
  const Configured config{"url = \"redis://h:1\"\n"};
  const Result result = result_of({"config"}, config.options);
  CHECK(result.status == 78);
  CHECK_MESSAGE(result.err.find("line 1: url: write the value without quotes") != std::string::npos,
                result.err);
}

TEST_CASE("a profile overrules what stands in the file outside of profiles") {
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

TEST_CASE("RLOCK_PROFILE names a profile; RLOCK_URL overrules that one, and not one that was typed") {
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

TEST_CASE("78: a profile that there is not, and a section that no file should have") {
  const Configured configured{kFile};
  const Result none = result_of({"inspect", "--profile", "stagin"}, configured.options);
  CHECK(none.status == 78);
  CHECK(none.err == "rlock: there is no profile 'stagin'; there are: staging, test.1\n");
  for (const auto& [text, why] :
       {std::pair{"[a b]\n", "line 1: expected [NAME], of letters"},
        std::pair{"[a\n", "line 1: expected [NAME], of letters"},
        std::pair{"[a]\n[a]\n", "line 2: [a] stands there twice"},
        std::pair{"[a]\nurl = nonsense://x\n", "line 2: url: "},
        std::pair{"[a]\nprofile = b\n", "line 2: profile is for the command line only"}}) {
    CAPTURE(text);
    const Result refused = result_of({"config"}, Configured{text}.options);
    CHECK(refused.status == 78);
    CHECK_MESSAGE(refused.err.find(why) != std::string::npos, refused.err);
  }
  Process::Options bare = Rlock::clean_environment();
  bare.env["RLOCK_CONFIG"] = "/dev/null";
  CHECK(result_of({"config", "--profile", "x"}, bare).status == 78);
}

TEST_CASE("commands of a run under a profile are told which") {
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
  CHECK(text.out.starts_with("url              redis://***@staging:7000/2"));
  CHECK((text.out + text.err).find("CANARY") == std::string::npos);
}

TEST_CASE("where nobody named a server config says so") {
  Process::Options options = Rlock::clean_environment();
  options.env["RLOCK_CONFIG"] = "/dev/null";
  const Result config = result_of({"config"}, options);
  CHECK(config.out.starts_with("url              redis://127.0.0.1:6379  default: nobody named a server\n"));
}

}  // namespace rlock::test
