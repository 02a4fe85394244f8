// A server, or a proxy before it, sends answers that no script gives. rlock treats them as no answer: the
// command's exit status and the run's record survive, whichever answer of a hold is wrong.

#include <doctest/doctest.h>

#include <algorithm>

#include "support/contains.h"
#include "support/eventually.h"
#include "support/falsified_server.h"

using namespace rlock::test;

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
