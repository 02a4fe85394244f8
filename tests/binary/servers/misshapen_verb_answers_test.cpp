// Wrong answers to verbs that run no command, and to the questions of a wait (misshapen_answers_test.cpp tries runs).

#include <doctest/doctest.h>

#include <algorithm>

#include "support/contains.h"
#include "support/eventually.h"
#include "support/falsified_server.h"
#include "support/verb_lines.h"

using namespace rlock::test;

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
