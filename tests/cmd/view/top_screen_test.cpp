// The screen of `rlock top`: what each keystroke changes, and the lines that are drawn. Pure, without a
// terminal.

#include "cmd/view/top_screen.h"

#include <doctest/doctest.h>

#include "cmd/view/table.h"
#include "support/contains.h"

using namespace rlock;
using namespace rlock::test;

namespace {

constexpr ScreenSize kSmall{.columns = 80, .lines = 24};

Inspection key(const std::string& name) {
  Inspection seen;
  seen.name = LockName{name};
  seen.kind = &kinds::lock;
  seen.state = Inspection::State::held;
  seen.holders.resize(1);
  seen.holders[0].owner = Owner{"8d1f2c3a-1111-4222-8333-444455556666:57"};
  seen.holders[0].ttl = Milliseconds{21'000};
  return seen;
}

TopScreen with_keys(int count) {
  TopScreen screen;
  std::vector<Inspection> keys;
  for (int i = 0; i < count; ++i) keys.push_back(key(std::to_string(10000 + i)));
  screen.take(std::move(keys));
  return screen;
}

std::string marked(const TopScreen& screen, ScreenSize size = kSmall) {
  for (const ScreenLine& line : screen.lines(size))
    if (line.marked) return line.text.substr(0, line.text.find(' '));
  return "";
}

}  // namespace

TEST_CASE("a screen fits its terminal exactly, of any size, with any number of keys") {
  for (const int count : {0, 1, 18, 19, 20, 21, 1000}) {
    for (const ScreenSize size : {kSmall, ScreenSize{200, 60}, ScreenSize{40, 10}, ScreenSize{1, 1}}) {
      CAPTURE(count);
      TopScreen screen = with_keys(count);
      for (const Meaning meaning : {Meaning::end, Meaning::up, Meaning::page_up, Meaning::down, Meaning::help,
                                    Meaning::help, Meaning::enter}) {
        CHECK(screen.press(meaning, size));
        const auto lines = screen.lines(size);
        if (size.lines > 4) CHECK(lines.size() == size.lines);
        for (const ScreenLine& line : lines) CHECK(columns_of(line.text) <= size.columns);
      }
    }
  }
}

TEST_CASE("the selected key stays on the screen") {
  TopScreen screen = with_keys(1000);
  CHECK(marked(screen) == "10000");
  screen.press(Meaning::down, kSmall);
  CHECK(marked(screen) == "10001");
  screen.press(Meaning::page_down, kSmall);
  CHECK(marked(screen) == "10021");
  screen.press(Meaning::end, kSmall);
  CHECK(marked(screen) == "10999");
  screen.press(Meaning::down, kSmall);
  CHECK(marked(screen) == "10999");
  screen.fit({80, 10});
  CHECK(marked(screen, {80, 10}) == "10999");
  screen.press(Meaning::home, kSmall);
  CHECK(marked(screen) == "10000");
}

TEST_CASE("the selected key stays selected when keys come and go") {
  TopScreen screen = with_keys(3);
  screen.press(Meaning::end, kSmall);
  screen.take({key("1"), key("10002")});
  CHECK(marked(screen) == "10002");
  screen.take({key("1")});
  CHECK(marked(screen) == "1");
  screen.take({});
  CHECK(marked(screen).empty());
}

TEST_CASE("s moves to the first key of the new order, from any place in the old one") {
  TopScreen screen = with_keys(1000);
  std::vector<Inspection> keys = screen.keys;
  keys[0].waiters.resize(5);
  screen.take(std::move(keys));
  for (int i = 0; i < 40; ++i) screen.press(Meaning::page_down, kSmall);
  screen.press(Meaning::sort, kSmall);
  screen.press(Meaning::sort, kSmall);
  REQUIRE(screen.order == KeyOrder::waiting);
  CHECK(screen.first == 0);
  CHECK(marked(screen) == "10000");
}

TEST_CASE("the first line stays first while keys come before it, but not in the details of a key") {
  TopScreen screen = with_keys(3);
  screen.take({key("1"), key("10000")});
  CHECK(marked(screen) == "1");
  screen.press(Meaning::enter, kSmall);
  screen.take({key("0"), key("1"), key("10000")});
  CHECK(screen.lines(kSmall)[2].text.starts_with("1 "));
}

TEST_CASE("the summary counts one key and one waiter in the singular") {
  TopScreen screen;
  Inspection one = key("one");
  one.subscribers = 1;
  screen.take({one});
  CHECK(screen.lines(kSmall)[0].text.starts_with("rlock top  1 key, "));
  screen.take({one, key("two")});
  CHECK(contains(screen.lines(kSmall)[0].text, " stale, 1 waits  sorted by"));
}

TEST_CASE("a long key has blanks behind it") {
  TopScreen screen;
  screen.take({key("a-key-that-is-longer-than-its-column")});
  screen.press(Meaning::enter, kSmall);
  CHECK(screen.lines(kSmall)[2].text == "a-key-that-is-longer-than-its-column  lock, held");
}

TEST_CASE("s sorts, Enter shows all about a key, ? helps, q goes back and then ends") {
  TopScreen screen = with_keys(2);
  CHECK(screen.press(Meaning::sort, kSmall));
  CHECK(screen.order == KeyOrder::age);
  CHECK(screen.press(Meaning::enter, kSmall));
  CHECK(screen.lines(kSmall)[2].text.starts_with("10000         lock, held"));
  CHECK(screen.press(Meaning::quit, kSmall));
  CHECK(screen.view == TopScreen::View::list);
  CHECK(screen.press(Meaning::help, kSmall));
  CHECK(screen.press(Meaning::escape, kSmall));
  CHECK_FALSE(screen.press(Meaning::quit, kSmall));
}

TEST_CASE("the text behind / selects the keys that contain or match it; Esc shows all again") {
  TopScreen screen;
  screen.take({key("deploy:api"), key("deploy:web"), key("build"), key("d\xc3\xa9ploy")});
  const auto type = [&](std::string text) {
    for (const Stroke& stroke : strokes_in(text)) CHECK(screen.press(stroke, kSmall));
  };
  type("/");
  CHECK(screen.lines(kSmall).back().text.starts_with("/_  "));
  type("qs");  // behind / these strokes are text, so q does not end the screen
  CHECK(screen.keys.empty());
  CHECK(contains(screen.lines(kSmall)[0].text, "0 of 4 keys match qs"));
  type(
      "\x7f\x7f"
      "deploy");
  CHECK(screen.keys.size() == 2);
  type("\x1b[B");  // moves to the second line
  CHECK(marked(screen) == "deploy:web");
  type("\r");
  CHECK(marked(screen) == "deploy:api");
  CHECK(screen.lines(kSmall).back().text.starts_with("q quit"));
  screen.take({key("deploy:new"), key("build")});
  CHECK(screen.keys.size() == 1);
  type("\x1b");
  CHECK(screen.keys.size() == 2);
  type("/*:[an]*\r");
  CHECK(screen.keys.size() == 1);
  screen.take({key("job[1"), key("build")});
  type("/b[1\r");  // without the ']' it is text
  CHECK(screen.keys.size() == 1);
  type("/\xc3\xa9\x7f");
  CHECK(screen.pattern.empty());
  type("\x1b");
  CHECK_FALSE(screen.press({Meaning::quit, "q"}, kSmall));
}

TEST_CASE("keys that --state or --type leave out are on no screen") {
  TopScreen screen;
  screen.filter.states = {"held"};
  screen.take({key("one"), key("two")});
  const std::size_t held = screen.keys.size();
  screen.filter.states = {"free"};
  screen.take({key("one"), key("two")});
  CHECK(held + screen.keys.size() == 2);
  CHECK(held != screen.keys.size());
}

TEST_CASE("a terminal without UTF-8 gets ASCII") {
  const std::vector<ScreenLine> lines{{"\xc3\xa9\xe6\x97\xa5x"}};
  CHECK(drawn(lines, {10, 1}, true) == "\x1b[H\x1b[K\xc3\xa9\xe6\x97\xa5x");
  CHECK(drawn(lines, {10, 1}, false) == "\x1b[H\x1b[K??x");
}
