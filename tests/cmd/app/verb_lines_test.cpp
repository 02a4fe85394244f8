#include "support/verb_lines.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.h"
#include "cmd/app/verb_table.h"

using namespace rlock;

TEST_CASE("each verb that takes --url has a line in the table that tests of all verbs read") {
  const std::vector<test::Words> lines = test::verb_lines();
  for (const VerbEntry* entry : verbs()) {
    const auto verb = entry->make();
    if (verb->spec().find("url") == nullptr) continue;
    if (entry->name == "config") continue;  // it asks no server
    if (entry->name == "top") continue;     // it refuses to run without a terminal
    const bool tried = std::ranges::any_of(lines, [&](const test::Words& words) {
      return (joined(words, " ") + " ").starts_with(std::string{entry->name} + " ");
    });
    CHECK_MESSAGE(tried, entry->name);
  }
}
