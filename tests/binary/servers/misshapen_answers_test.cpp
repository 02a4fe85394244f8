// A server, or a proxy before it, sends answers that no script gives. rlock treats them as no answer: the
// command's exit status and the run's record survive, whichever answer of a hold is wrong.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/profile.h"
#include "support/relay.h"
#include "support/verb_lines.h"

using namespace rlock::test;

namespace {

std::string deeply(std::size_t levels) {
  std::string bytes;
  for (std::size_t level = 0; level < levels; ++level) bytes += "*1\r\n";
  return bytes + ":1\r\n";
}

/// An array that begins like a script's answer, and goes on with `values`.
std::string answer(const std::string& word, std::string_view values) {
  return "*3\r\n" + wire::text(word) + std::string{values};
}

/// Answers that no script gives, by name.
const std::map<std::string, std::string>& shapes() {
  static const std::map<std::string, std::string> all{
      {"nil", "$-1\r\n"},
      {"no array", "*-1\r\n"},
      {"RESP3's nil", "_\r\n"},
      {"a number", ":7\r\n"},
      {"the largest number", ":9223372036854775807\r\n"},
      {"OK", "+OK\r\n"},
      {"text", "$4\r\nwhat\r\n"},
      {"an empty text", "$0\r\n\r\n"},
      {"an empty array", "*0\r\n"},
      {"an array of nothing", "*1\r\n$-1\r\n"},
      {"an array in an array", "*1\r\n*1\r\n:1\r\n"},
      {"many arrays in each other", deeply(50)},
      {"an unknown number", "*1\r\n:77\r\n"},
      {"an unknown word", "*1\r\n$4\r\nwhat\r\n"},
      {"a word alone", "*1\r\n$4\r\nheld\r\n"},
      {"the largest numbers", answer("busy", ":9223372036854775807\r\n:9223372036854775807\r\n")},
      {"arrays for values", answer("held", "*0\r\n*0\r\n")},
      {"arrays for values of a release", answer("released", "*0\r\n*0\r\n")},
      {"arrays for values of a refusal", answer("foreign", "*0\r\n*0\r\n")},
      {"an error", "-ERR what\r\n"},
      {"an empty error", "-\r\n"},
      {"a double", ",1.5\r\n"},
      {"true", "#t\r\n"},
      {"a map", "%1\r\n$1\r\na\r\n:1\r\n"},
      {"a set", "~1\r\n:1\r\n"},
      {"a big number", "(123456789012345678901234567890\r\n"},
      {"text with its kind", "=8\r\ntxt:what\r\n"},
      {"a push", ">1\r\n:1\r\n"},
      {"a message", ">3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nb\r\n"},
      {"no Redis at all", "HTTP/1.1 400 Bad Request\r\n\r\n"},
      {"the end of the connection", wire::kClose},
  };
  return all;
}

/// The few shapes for tests in which each try takes a second.
const std::vector<std::string> kFewShapes =
    kSanitized && !long_profile()
        ? std::vector<std::string>{"a number", "an array in an array"}
        : std::vector<std::string>{"nil", "a number", "text", "an array in an array", "no Redis at all"};

/// With a lock every shape is tried. The other kinds read answers with the same code, so only the most
/// different shapes are tried; under sanitizers fewer. RLOCK_LONG=1 tries all.
bool is_shape_tried(const std::string& kind, const std::string& shape) {
  static const std::set<std::string> telling{"nil",
                                             "a number",
                                             "text",
                                             "an unknown word",
                                             "a word alone",
                                             "the largest numbers",
                                             "arrays for values",
                                             "arrays for values of a release",
                                             "arrays for values of a refusal",
                                             "arrays for values of readers",
                                             "an error",
                                             "the end of the connection"};
  if (kSanitized && !long_profile()) return std::ranges::count(kFewShapes, shape) != 0;
  return long_profile() || kind == "lock" || telling.contains(shape);
}

struct Variety {
  std::string name;
  Words options;
};

const std::vector<Variety> kVarieties{
    {"lock", {}},
    {"read", {"-s"}},
    {"write", {"-x"}},
    {"fair", {"--fair"}},
    {"fenced", {"--fenced"}},
    {"plain", {"--type", "plain"}},
    {"permit", {"--permits", "3"}},
    {"two keys", {"-k", "l"}},
};

const std::set<int> kDocumented{0, 1, 7, 64, 65, 69, 70, 71, 75, 77, 78, 124, 125, 126, 127};

/// A server, a relay that falsifies its answers, and a folder.
struct FalsifiedServer {
  RedisServer server{};
  Relay relay{server};
  TempDir folder{};

  Rlock rlock(const Words& words) const {
    auto options = server.environment();
    options.env["RLOCK_URL"] = relay.url();
    options.env["RLOCK_BINARY"] = rlock_binary();
    return Rlock{words, options};
  }

  /// The words of an rlock run of this kind, with a command of its own.
  Words run(const Variety& kind, const Words& more, const std::string& command) const {
    Words words{"run", "-q", "-k", "k", "--command-timeout", "300ms", "--status-file", folder / "status"};
    words.insert(words.end(), kind.options.begin(), kind.options.end());
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", "sh", "-c", "echo > " + (folder / "ran") + "; " + command});
    return words;
  }

  void clean() {
    relay.tell_the_truth();
    server.cli({"FLUSHALL"});
    write_file(folder / "ran", "");
    write_file(folder / "status", "");
  }

  bool ran() const { return !read_file(folder / "ran").empty(); }
  nlohmann::json record() const {
    return nlohmann::json::parse(read_file(folder / "status"), nullptr, false);
  }

  /// Checks that the command's own exit status survives whatever was answered, and that the record tells how
  /// the run ended.
  void expect_truthful_end(int status) {
    CHECK(kDocumented.contains(status));
    const auto report = record();
    REQUIRE(report.is_object());
    CHECK(report["exit"] == status);
    if (!ran()) return;
    CHECK((status == 7 || (status == 125 && report["outcome"] == "lost")));
    CHECK((report["command_exit"] == 7 || report["outcome"] == "lost"));
  }
};

/// The scripts called during a hold whose answers are all true.
std::set<std::string> asked_by(FalsifiedServer& stage, const Words& words) {
  stage.clean();
  stage.relay.forget_asked();
  CHECK(stage.rlock(words).exit_code(kPatience) == 7);
  return stage.relay.forget_asked();
}

}  // namespace

TEST_CASE("with any answers a run ends as documented, with its command's exit code if that ran") {
  for (const Variety& kind : kVarieties) {
    FalsifiedServer stage;
    const Words words = stage.run(kind, {"-n"}, "exit 7");
    for (const std::string& name : asked_by(stage, words)) {
      for (const auto& [shape, bytes] : shapes()) {
        if (!is_shape_tried(kind.name, shape)) continue;
        CAPTURE(kind.name);
        CAPTURE(name);
        CAPTURE(shape);
        stage.clean();
        stage.relay.say_instead(name, bytes);
        Rlock run = stage.rlock(words);
        const int status = run.exit_code(kPatience);
        CAPTURE(run.err());
        stage.expect_truthful_end(status);
      }
    }
  }
}

TEST_CASE("a senseless answer to a renewal counts as no answer") {
  for (const Variety& kind : kVarieties) {
    FalsifiedServer stage;
    for (const char* shape : {"nil", "a number"}) {
      CAPTURE(kind.name);
      CAPTURE(shape);
      stage.clean();
      for (const char* name : {"lock/renew", "read/renew", "write/renew", "plain/renew", "permit/renew"})
        stage.relay.say_instead(name, shapes().at(shape));
      Rlock run = stage.rlock(stage.run(kind, {"-n", "--lease", "1500ms"}, "sleep 3; exit 7"));
      const int status = run.exit_code(kPatience);
      CAPTURE(run.err());
      CHECK(status == 125);
      CHECK(contains(run.err(), "could not be renewed"));
      CHECK(stage.record()["outcome"] == "lost");
    }
  }
}

TEST_CASE("a hold survives one senseless answer to a renewal") {
  FalsifiedServer stage;
  const Words words = stage.run(kVarieties.front(), {"-n", "--lease", "3s"}, "sleep 2; exit 7");
  for (const char* shape : {"nil", "a number"}) {
    CAPTURE(shape);
    stage.clean();
    stage.relay.say_instead("lock/renew", shapes().at(shape), 1);
    Rlock run = stage.rlock(words);
    CHECK(run.exit_code(kPatience) == 7);
    CHECK(stage.record()["outcome"] == "ran");
  }
}

TEST_CASE("wrong answers to an inner hold harm neither hold") {
  for (const Variety& kind : kVarieties) {
    FalsifiedServer stage;
    std::string options;
    for (const std::string& word : kind.options) options += " " + word;
    const std::string inner = "\"$RLOCK_BINARY\" run -q -k k -n --command-timeout 300ms --status-file " +
                              (stage.folder / "inner") + options + " -- sh -c 'exit 5'; exit 7";
    const Words words = stage.run(kind, {"-n"}, inner);
    for (const std::string& name : asked_by(stage, words)) {
      if (name.ends_with("/acquire") || kind.name == "two keys") continue;  // sent by the outer run
      for (const std::string& shape : kFewShapes) {
        CAPTURE(kind.name);
        CAPTURE(name);
        CAPTURE(shape);
        stage.clean();
        write_file(stage.folder / "inner", "");
        stage.relay.say_instead(name, shapes().at(shape));
        Rlock run = stage.rlock(words);
        const int status = run.exit_code(kPatience);
        CAPTURE(run.err());
        stage.expect_truthful_end(status);
        if (!stage.ran()) continue;
        const auto inside = nlohmann::json::parse(read_file(stage.folder / "inner"), nullptr, false);
        REQUIRE(inside.is_object());
        if (inside["command_exit"] == 5) CHECK((inside["exit"] == 5 || inside["outcome"] == "lost"));
      }
    }
  }
}

TEST_CASE("the answer of WAIT counts only if it is a number, and large enough") {
  FalsifiedServer stage;
  const Words words =
      stage.run(kVarieties.front(), {"-n", "--sync-replicas", "2", "--sync-timeout", "50ms"}, "exit 7");
  for (const auto& [shape, bytes] : shapes()) {
    CAPTURE(shape);
    stage.clean();
    stage.relay.say_instead("WAIT", bytes);
    const int status = stage.rlock(words).exit_code(kPatience);
    const bool enough = shape == "a number" || shape == "the largest number";
    CHECK(status == (enough ? 7 : 69));
    CHECK(stage.ran() == enough);
    stage.expect_truthful_end(status);
    CHECK(eventually([&] { return !stage.server.has("k"); }));
  }
}

TEST_CASE("with any answer about the holder, a wait goes on to its end and leaves nothing") {
  FalsifiedServer stage;
  for (const char* name : {"PUBSUB", "inspect/facts", "inspect/key", "inspect/glance"}) {
    for (const std::string& shape : kFewShapes) {
      CAPTURE(name);
      CAPTURE(shape);
      stage.clean();
      stage.server.cli({"HSET", "k", "holder:1", "1"});
      stage.server.cli(
          {"HSET", "rlock:meta:{k}", "holder:1", R"({"since":1,"host":"h","user":"u","command":"c"})"});
      stage.relay.say_instead(name, shapes().at(shape));
      Rlock run = stage.rlock(
          {"run", "-k", "k", "-w", "1500ms", "--fair", "--command-timeout", "300ms", "--", "true"});
      const int status = run.exit_code(kPatience);
      const auto says = [&](const char* text) { return contains(run.err(), text); };
      // Bytes that are not Redis's protocol break the connection: rlock ends with 69, never with 75.
      const bool breaks = shape == "no Redis at all";
      CHECK_MESSAGE((status == 75 || (breaks && status == 69)), run.err());
      const bool waited = says("waiting for 'k'") || (breaks && says("'k' was held by holder:1"));
      CHECK_MESSAGE(waited, run.err());
      CHECK(eventually([&] { return !stage.server.has("redisson_lock_queue:{k}"); }));
    }
  }
}

TEST_CASE("with any answer a verb ends as documented") {
  std::vector<Words> verbs =
      verb_lines_and({{"lock", "acquire", "-n", "k", "--lease", "1m", "--owner", "o"}});
  std::erase_if(verbs, [](const Words& words) { return words.front() == "run"; });  // the cases above try it
  for (Words& words : verbs) {
    const bool counts = words.front() == "sem" || words.front() == "permit";
    if (counts || words.front() == "latch") std::ranges::replace(words, "k", counts ? "s" : "t");
  }
  FalsifiedServer stage;
  const auto put = [&] {
    stage.clean();
    stage.server.cli({"HSET", "k", "o", "1"});
    stage.server.cli({"HSET", "rlock:meta:{k}", "o", R"({"since":1,"host":"h"})"});
    stage.server.cli({"SET", "s", "2"});
    stage.server.cli({"SET", "t", "2"});
  };
  for (const Words& verb : verbs) {
    put();
    stage.relay.forget_asked();
    stage.rlock(verb).exit_code(kPatience);
    for (const std::string& name : stage.relay.forget_asked()) {
      for (const std::string& shape : kFewShapes) {
        CAPTURE(verb.front());
        CAPTURE(name);
        CAPTURE(shape);
        put();
        stage.relay.say_instead(name, shapes().at(shape));
        Words hasty = verb;
        hasty.insert(hasty.end(), {"--command-timeout", "200ms", "--connect-timeout", "200ms"});
        Rlock rlock = stage.rlock(hasty);
        CHECK(kDocumented.contains(rlock.exit_code(kPatience)));
        CHECK_FALSE(contains(rlock.err(), "internal error"));
      }
    }
  }
}
