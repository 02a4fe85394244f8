#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.h"
#include "cmd/app/verb_table.h"
#include "cmd/cli/help.h"
#include "support/contains.h"

using namespace rlock;
using namespace rlock::test;

namespace {

std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; }));
}

void check_screen(std::string_view name, const std::string& screen, std::size_t most = 25) {
  const std::vector<std::string> lines = split(screen, '\n');
  CHECK_MESSAGE(lines.size() <= most, name);  // the last line is the empty one behind the last newline
  for (const std::string& line : lines) {
    CAPTURE(line);
    CHECK(columns(line) <= 80);
    CHECK_FALSE(line.ends_with(' '));
  }
}

}  // namespace

TEST_CASE("every screen of help fits a terminal of 80 columns, and ends with examples") {
  check_screen("rlock", main_screen());
  for (const VerbEntry* entry : verbs()) {
    const auto verb = entry->make();
    const VerbSpec declaration = verb->spec();
    CAPTURE(entry->name);
    CHECK(declaration.verb == entry->name);
    CHECK_FALSE(declaration.examples.empty());
    check_screen(entry->name, help_screen(declaration));
    check_screen(entry->name, noun_screen(entry->name.substr(0, entry->name.find(' '))));
  }
}

TEST_CASE("each screen of help names every option of its verb, and its common options exist") {
  for (const VerbEntry* entry : verbs()) {
    const auto verb = entry->make();
    const VerbSpec declaration = verb->spec();
    CAPTURE(entry->name);
    const std::string screen = help_screen(declaration);
    for (const auto& group : declaration.groups) {
      for (const Option& option : group.options) {
        CAPTURE(option.names);
        if (!group.elsewhere && !option.hidden) CHECK(contains(screen, option.names));
      }
    }
    for (const std::string& name : split(declaration.common, ' '))
      if (!name.empty()) CHECK_MESSAGE(declaration.find(name) != nullptr, name);
  }
}

TEST_CASE("the screen of rlock names the first word of every verb") {
  const std::string screen = main_screen();
  for (const VerbEntry* entry : verbs())
    CHECK_MESSAGE(contains(screen, entry->name.substr(0, entry->name.find(' '))), entry->name);
}

TEST_CASE("no name of an option means two things within one verb") {
  for (const VerbEntry* entry : verbs()) {
    const auto verb = entry->make();
    const VerbSpec declaration = verb->spec();
    std::vector<std::string> names;
    for (const auto& group : declaration.groups) {
      for (const Option& option : group.options) {
        for (const std::string_view name : long_names(option)) names.emplace_back(name);
        for (const char letter : letters(option)) names.emplace_back(1, letter);
      }
    }
    std::ranges::sort(names);
    const auto twin = std::ranges::adjacent_find(names);
    CHECK_MESSAGE(twin == names.end(), entry->name);
  }
}
