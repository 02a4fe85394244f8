// A server may repeat everything that it received, the password included, in errors, values and names.
// Whatever the server sends, and wherever a user typed the password: no text that rlock prints or writes
// contains it.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <deque>
#include <memory>

#include "base/text.h"
#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/fake_redis.h"
#include "support/profile.h"
#include "support/redis_server.h"
#include "support/verb_lines.h"
#include "sync/calls/keys.h"

using namespace rlock;
using namespace rlock::test;

namespace {

const std::string kCanary =
    "CANARY/x7\"\\\xc3\xbc";  // JSON, URLs and terminals each write these characters in another way
const std::string kInUrl = "CANARY%2Fx7%22%5C%C3%BC";

bool silent(const std::string& text) { return !contains(text, "CANARY"); }

const std::vector<Words> kVerbs = verb_lines_and({
    {"run", "-v", "-n", "-k", "k", "--", "true"},
    {"run", "-v", "-w", "300ms", "--fair", "-k", "k", "--", "true"},
    {"run", "-n", "-k", "k", "-k", "l", "--read", "--", "true"},
    {"run", "-n", "--fenced", "-k", "k", "--", "true"},
    {"run", "-n", "--type", "plain", "-k", "k", "--", "true"},
    {"run", "-n", "--permits", "2", "-k", "k", "--", "true"},
    {"run", "-n", "-x", "-k", "k", "--", "true"},
    {"lock", "acquire", "-n", "k", "--lease", "1m", "--owner", "o:1", "--json"},
    {"lock", "status", "k", "--owner", "o:1"},
    {"permit", "status", "--json", "k"},
    {"sem", "status", "--json", "k"},
    {"latch", "status", "--json", "k"},
    {"inspect", "-v"},
    {"inspect", "-q"},
    {"complete", "bash"},
    {"inspect", "--json"},
    {"inspect", "-v", "k"},
    {"inspect", "--json", "k"},
    {"unlock", "k"},
    {"unlock", "--yes", "--if-owner", "o:1", "k"},
    {"doctor", "-v"},
    {"doctor", "--json"},
    {"scripts", "load", "-v"},
});

/// Everything that a run of rlock prints and writes.
class Shown {
 public:
  Shown(const Words& words, const Process::Options& options)
      : folder_(std::make_unique<TempDir>()), rlock_(with_status(words), options) {}

  /// All its texts, after its end.
  std::string text() {
    if (!eventually([this] { return !rlock_.running(); }, kDeadline)) return "CANARY: it never ends";
    return rlock_.out() + rlock_.err() + read_file(*folder_ / "status");
  }

 private:
  Words with_status(Words words) const {
    if (words.front() == "run") words.insert(words.begin() + 1, {"--status-file", *folder_ / "status"});
    return words;
  }

  std::unique_ptr<TempDir> folder_;
  Rlock rlock_;
};

/// Runs many command lines, some at a time: most of them wait for an event that never comes. None may show
/// the password.
class Batch {
 public:
  ~Batch() {
    while (!runs_.empty()) look();
  }

  void add(const Words& words, const Process::Options& options, const std::string& about = "") {
    if (runs_.size() == kAtOnce) look();
    runs_.push_back({joined(words, " ") + about, Shown{words, options}});
  }

 private:
  static constexpr std::size_t kAtOnce = 24;

  void look() {
    const std::string text = runs_.front().shown.text();
    CHECK_MESSAGE(silent(text), runs_.front().about << "\n" << text);
    runs_.pop_front();
  }

  struct Run {
    std::string about;
    Shown shown;
  };
  std::deque<Run> runs_;
};

/// The environment of an rlock with these servers, the password, short timeouts, and the lines `more` of a config
/// file.
Process::Options environment_for(const std::string& url, const std::string& more = "") {
  static const TempDir folder;
  const std::string config = folder / "config" + std::to_string(more.size());
  write_file(config, "connect-timeout = 400ms\ncommand-timeout = 200ms\n" + more);
  ::chmod(config.c_str(), 0600);
  Process::Options options = Rlock::clean_environment();
  options.directory = folder.path();  // some command lines create a file in the working directory
  options.env["RLOCK_URL"] = url;
  options.env["RLOCK_PASSWORD"] = kCanary;
  options.env["RLOCK_CONFIG"] = config;
  return options;
}

/// Runs verbs at this server. The answers of a test case differ little, so each verb meets every fourth of them, and each
/// answer every fourth verb; with RLOCK_LONG=1 all. `number`: that of the answer.
void try_verbs(std::size_t number, const FakeRedis& server, const std::string& config = "") {
  const Process::Options options = environment_for(server.url(), config);
  Batch batch;
  for (const Words& words : kVerbs)
    if (long_profile() || number++ % 4 == 0) batch.add(words, options);
}

/// All that the server was sent so far, on one line.
std::string echo(const Words& command) {
  std::string line = "you said";
  for (const std::string& word : command) {
    if (word.size() < 100) line += " " + word;
  }
  return line + ", and before: AUTH " + kCanary + " from redis://:" + kInUrl + "@host:1";
}

}  // namespace

TEST_CASE("if a command of the greeting gets an error that repeats the password, no text shows it") {
  std::size_t number = 0;
  for (const std::string command : {"AUTH", "HELLO", "SELECT", "CLIENT"}) {
    CAPTURE(command);
    FakeRedis server;
    server.decide([&](const Words& words) -> std::optional<std::string> {
      if (words.front() == command) return wire::error("ERR " + echo(words));
      return std::nullopt;
    });
    try_verbs(number, server, "db = 3\n");
    try_verbs(number++, server, "db = 3\nuser = bob\n");
  }
}

TEST_CASE("if a command behind the greeting gets an error that repeats the password, no text shows it") {
  std::size_t number = 0;
  for (const std::string& code :
       Words{"ERR", "NOPERM", "WRONGTYPE", "NOSCRIPT", "MOVED 1", "READONLY", "MISCONF", "OOM",
             "ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -NOPERM", "NOAUTH",
             "WRONGPASS", kCanary}) {
    CAPTURE(code);
    FakeRedis server;
    server.decide([&](const Words& words) -> std::optional<std::string> {
      const std::string& name = words.front();
      if (name == "HELLO" || name == "AUTH" || name == "SELECT" || name == "CLIENT") return std::nullopt;
      return wire::error(code + " " + echo(words));
    });
    try_verbs(number++, server);
  }
}

TEST_CASE("a password that is cut by the end of a long text shows no part of itself") {
  FakeRedis server;
  for (std::size_t before = 285; before <= 300; ++before) {
    server.on("AUTH", wire::error("ERR " + std::string(before - 4, 'x') + kCanary));
    Batch{}.add({"lock", "status", "k"}, environment_for(server.url()));
  }
}

TEST_CASE("if a value of the wrong shape repeats the password, no text shows it") {
  const std::string text = wire::text(kCanary);
  std::vector<std::string> replies{
      text,
      wire::status(kCanary),
      wire::array({text, text}),
      kCanary + "\r\n",
      wire::array({wire::array({text}), wire::array({text, text})}),
      wire::array({wire::text("0"), wire::array({wire::text("rlock:meta:{" + kCanary + "}")})})};
  for (const char* word : {"held", "busy", "foreign", "not_ours", "upgrade", "absent", "other_size",
                           "too_small", "released", "kept", "done", "found", "closed"}) {
    const std::string first = wire::text(word);
    replies.push_back(wire::array({first, text, text, text, text, text, text}));
    replies.push_back(wire::array({first, wire::integer(1), wire::integer(2), text, wire::integer(1), text}));
  }
  std::size_t number = 0;
  for (const std::string& reply : replies) {
    CAPTURE(reply);
    FakeRedis server;
    server.decide([&](const Words& words) -> std::optional<std::string> {
      const std::string& name = words.front();
      if (name == "HELLO" || name == "AUTH" || name == "SELECT" || name == "CLIENT" ||
          name.ends_with("SUBSCRIBE"))
        return std::nullopt;
      return reply;
    });
    try_verbs(number++, server);
  }
}

TEST_CASE("if an answer of the wrong shape to the greeting repeats the password, no text shows it") {
  const std::string text = wire::text(kCanary);
  std::deque<FakeRedis> servers;
  Batch batch;
  for (const std::string& reply :
       Words{text, wire::array({text}), wire::push({text, text}), wire::integer(3), kCanary + "\r\n"}) {
    for (const std::string name : {"AUTH", "HELLO", "SELECT", "SUBSCRIBE", "SSUBSCRIBE"}) {
      FakeRedis& server = servers.emplace_back();
      server.on(name, reply);
      server.on("EVALSHA", wire::array({wire::text("busy"), wire::integer(60000), wire::text("o:1")}));
      batch.add({"run", "-v", "-w", "300ms", "--db", "1", "-k", "k", "--", "true"},
                environment_for(server.url()), ": " + name + " " + reply);
      batch.add({"latch", "wait", "-w", "300ms", "k"}, environment_for(server.url()),
                ": " + name + " " + reply);
    }
  }
}

TEST_CASE("if the refusal of a subscription repeats the password, no text shows it") {
  FakeRedis server;
  server.decide([&](const Words& words) -> std::optional<std::string> {
    if (words.front().ends_with("SUBSCRIBE")) return wire::error("NOPERM " + echo(words));
    return std::nullopt;
  });
  server.on("EVALSHA", wire::array({wire::text("busy"), wire::integer(60000), wire::text(kCanary)}));
  Batch batch;
  for (const std::string type : {"lock", "fair", "read", "write", "permit"})
    batch.add({"run", "-v", "-w", "1300ms", "--type", type, "-k", "k", "--", "true"},
              environment_for(server.url()));
}

TEST_CASE("if a Sentinel or a cluster repeats the password, no text shows it") {
  const std::string password = "CANARY-x7";  // it could be a host name
  const std::string text = wire::text(password);
  const std::string port = wire::integer(1);
  std::deque<FakeRedis> servers;
  Batch batch;
  for (const std::string& reply : {wire::error("ERR no " + password), wire::error("MOVED 1 CANARY-x7:1"),
                                   wire::error("ASK 1 CANARY-x7:1"), text,
                                   wire::array({text, wire::text("1")}), wire::array({text, text}),
                                   wire::array({wire::array({wire::integer(0), wire::integer(16383),
                                                             wire::array({text, port, text})})})}) {
    for (const std::string scheme : {"redis+sentinel", "redis+cluster"}) {
      FakeRedis& server = servers.emplace_back(FakeRedis::Transport::tcp);
      server.decide([reply](const Words& words) -> std::optional<std::string> {
        const std::string& name = words.front();
        if (name == "HELLO" || name == "AUTH" || name == "CLIENT") return std::nullopt;
        return reply;
      });
      const std::string url = scheme + "://:" + password + "@127.0.0.1:" + std::to_string(server.port()) +
                              (scheme == "redis+sentinel" ? "/CANARY-x7" : "");
      for (const Words& words :
           {Words{"run", "-v", "-w", "300ms", "-k", "k", "--", "true"}, Words{"inspect"},
            Words{"inspect", "--json", "k"}, Words{"doctor"}, Words{"lock", "status", "k"}})
        batch.add(words, environment_for(url), ": " + reply);
    }
  }
}

TEST_CASE("if keys and facts contain the password, no text shows it") {
  RedisServer redis;
  const std::string key = "k" + kCanary, owner = kCanary + ":1";
  const std::string facts =
      R"({"host":"CANARY/x7\"\\ü","pid":1,"user":"CANARY/x7\"\\ü","command":"CANARY/x7\"\\ü",)"
      R"("reason":"see redis://:)" +
      kInUrl +
      R"(@h","labels":{"CANARY/x7\"\\ü":"CANARY/x7\"\\ü"},)"
      R"("url":"https://u:CANARY/x7\"\\ü@ci/1","since":1,"renewed":1,"lease_ms":1000,"renews":true})";
  for (const std::string& name : Words{key, "k"}) {
    redis.cli({"HSET", name, owner, "1"});
    redis.cli({"PEXPIRE", name, "600000"});
    redis.cli({"HSET", metadata_key(LockName{name}), owner, facts});
  }
  Process::Options options = redis.environment();
  options.env["RLOCK_PASSWORD"] = kCanary;
  options.env["RLOCK_URL"] = "unix://" + redis.socket();
  redis.cli({"ACL", "SETUSER", "default", "resetpass", ">" + kCanary});
  for (const Words& words : kVerbs) {
    if (words[0] == "inspect" || words[0] == "run") Batch{}.add(words, options);
  }
  for (const Words& words :
       {Words{"lock", "status", key}, Words{"lock", "acquire", "-n", key, "--lease", "1m"},
        Words{"lock", "acquire", "-w", "1200ms", key, "--lease", "1m"}, Words{"inspect", "-v", key},
        Words{"inspect", "--json", key}, Words{"unlock", key}, Words{"unlock", "--yes", key},
        Words{"unlock", "--yes", "k"}}) {
    Batch{}.add(words, options);
  }
}

TEST_CASE("a URL in the wrong place of the command line is not shown with its password") {
  FakeRedis server;
  server.decide([](const Words&) { return wire::error("ERR no"); });
  Process::Options options = environment_for(server.url());
  options.env.erase("RLOCK_PASSWORD");
  Batch batch;
  for (const std::string& url :
       Words{"redis://:" + kInUrl + "@h:1", "redis://bob:CANARY@h", "redis://CANARY@h",
             "redis://:CANARY/a b@h", "rediss://:CANARY@a,b/2?x", "REDIS://:CANARY@h", "redis:/:CANARY@h",
             "redis:CANARY@h", "https://u:CANARY@h/x"}) {
    for (const Words& words :
         {Words{url},
          Words{"-u", url},
          Words{"-h", url},
          Words{"--url=" + url, "inspect"},
          Words{"run", url},
          Words{"run", "-k", "k", url},
          Words{"run", "-k", "k", "--", url},
          Words{"run", "-c", url},
          Words{"run", "-k", "k", "-c", url},
          Words{"run", "-k", url, "-n"},
          Words{"run", "-nk", url, "--", "true"},
          Words{"run", "-k", "k", "--lease", url, "--", "true"},
          Words{"run", "-k", "k", "--type", url, "--", "true"},
          Words{"run", "-k", "k", "-E", url, "--", "true"},
          Words{"run", "-k", "k", "--signal", url, "--", "true"},
          Words{"run", "-k", "k", "--label", url, "--", "true"},
          Words{"run", "-k", "k", "--" + url, "--", "true"},
          Words{"run", "-k", "k", "-" + url, "--", "true"},
          Words{"run", "-k", "k", "-u=" + url, "--", "true"},
          Words{"run", "-k", "k", "--host", url, "true"},
          Words{"run", "-k", "k", "-h", url, "--", "true"},
          Words{"run", url, "-k", "k"},
          Words{"run", "-k", "k", "--config", url, "--", "true"},
          Words{"run", "-k", "k", "--password-file", url, "--", "true"},
          Words{"run", "-k", "k", "--status-file", url, "--", "true"},
          Words{"run", "-k", "k", "--cacert", url, "--", "true"},
          Words{"run", "-k", "k", "--url", url + "#", "--", "true"},
          Words{"run", "-k", "k", "--prefix", url, "-n", "--", "true"},
          Words{"run", "-k", "k", "--backoff", url, "--", "true"},
          Words{"run", "-k", "k", "--quorum", url, "--", "true"},
          Words{"lock", url},
          Words{"lock", "acquire", "k", url},
          Words{"lock", "release", "k", "--owner", "o", url},
          Words{"inspect", url},
          Words{"inspect", "--json", url},
          Words{"inspect", "k", "--jsno=" + url},
          Words{"doctor", url},
          Words{"doctor", "--" + url},
          Words{"doctor", "-X" + url},
          Words{"sem", "init", url, "2"},
          Words{"sem", "init", "k", url},
          Words{"permit", "release", "k", url},
          Words{"latch", "set", "k", url},
          Words{"scripts", "show", url},
          Words{"completion", url},
          Words{"server", "start", url},
          Words{"help", url},
          Words{"unlock", url},
          Words{"unlock", "k", url},
          Words{"run", "-k", "k", "--reason", "see " + url, "--", "/nonexistent/" + url}}) {
      batch.add(words, options);
    }
  }
}

TEST_CASE("a variable or a configuration file with a password in the wrong place is not shown with it") {
  for (const std::string& url :
       Words{"redis://:" + kInUrl + "@h:1", "redis://:CANARY/a@h", "redis://:CANARY@h?password=CANARY",
             "CANARY=x", "CANARY", "password = CANARY", "CANARY = CANARY", "url redis://:CANARY@h",
             "ulr = redis://:CANARY@h", "url = redis://:CANARY@h#x", "url = redis://:CANARY /@h",
             "db = CANARY", "tls = CANARY"}) {
    CAPTURE(url);
    TempDir folder;
    write_file(folder / "config", url + "\n");
    ::chmod((folder / "config").c_str(), 0600);
    for (const std::string name : {"RLOCK_URL", "REDIS_URL", "RLOCK_CONFIG"}) {
      Process::Options options = Rlock::clean_environment();
      options.env[name] = name == "RLOCK_CONFIG" ? folder / "config" : url;
      Batch{}.add({"lock", "status", "--connect-timeout", "100ms", "k"}, options);
    }
  }
}

TEST_CASE("facts about a holder tell the server no password") {
  FakeRedis server;
  server.on("EVALSHA", wire::array({wire::text("held"), wire::integer(1)}));
  Process::Options options = environment_for(server.url());
  options.env["CI_JOB_URL"] = "https://ci:" + kInUrl + "@ci/job/1";
  Batch{}.add({"run", "-n", "-k", "k", "--command-timeout", "300ms", "--reason", "as " + kCanary, "--label",
               "where=redis://:" + kInUrl + "@h", "--label", kCanary + "=1", "--", "true"},
              options);
  CHECK(server.count("EVALSHA") > 0);
  for (const Words& words : server.log()) {
    if (words.front() == "AUTH" || words.front() == "HELLO") continue;
    for (const std::string& word : words) CHECK_MESSAGE(silent(word), word);
  }
}
