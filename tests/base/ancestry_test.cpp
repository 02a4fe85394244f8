#include "base/ancestry.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>

#include "support/eventually.h"
#include "support/process.h"

namespace rlock::test {

TEST_CASE("a process is known by its number and its start, and a zombie does not live") {
  Process sleeper{{"sleep", "60"}};
  const auto process = process_of(sleeper.pid());
  REQUIRE(process.has_value());
  CHECK(process->pid == sleeper.pid());
  CHECK(process->started > 0);
  CHECK(lives(*process));
  CHECK_FALSE(lives({process->pid, process->started + 1}));
  ::kill(sleeper.pid(), SIGKILL);  // nobody has asked for its end yet: it is a zombie
  CHECK(eventually([&] { return !lives(*process); }));
}

TEST_CASE("our parent is an ancestor, and we ourselves are none") {
  CHECK(is_ancestor(::getppid()));
  CHECK_FALSE(is_ancestor(::getpid()));
  CHECK_FALSE(process_of(4194305).has_value());
}

}  // namespace rlock::test
