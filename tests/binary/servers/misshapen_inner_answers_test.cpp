// Wrong answers to an inner hold (tests/binary/servers/misshapen_answers_test.cpp tries the others).

#include <doctest/doctest.h>

#include <algorithm>

#include "support/falsified_server.h"

using namespace rlock::test;

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
