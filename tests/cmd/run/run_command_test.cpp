#include "cmd/run/run_command.h"

#include <doctest/doctest.h>

#include <cerrno>

#include "cmd/hold/command/held_command.h"
#include "cmd/run/run_request.h"

using namespace rlock;

TEST_CASE("not_executed is the status only if the command could not be executed") {
  RunRequest options;
  const auto not_started = [&](int error) {
    return exit_of(options, {.how = CommandOutcome::How::not_started, .error = error}, Lost::no);
  };
  const auto exited = [&](int status) { return exit_of(options, {.exit_code = status}, Lost::no); };
  CHECK(not_started(ENOENT) == 127);
  CHECK(not_started(EACCES) == 126);
  options.not_executed = 69;  // as flock(1)
  CHECK(not_started(ENOENT) == 69);
  CHECK(not_started(EACCES) == 69);
  CHECK(not_started(EMFILE) == 71);
  CHECK(exited(126) == 126);
  CHECK(exited(127) == 127);
  CHECK(exited(0) == 0);
  CHECK(exit_of(options, {.exit_code = 127}, Lost::yes) == 125);
}
