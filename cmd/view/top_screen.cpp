#include "cmd/view/top_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/key_text.h"
#include "base/text.h"
#include "cmd/view/inspection.h"
#include "cmd/view/key_table.h"
#include "cmd/view/table.h"

namespace rlock {
namespace {

/// The summary, a line for trouble or a note, and the titles; below the list the keys.
constexpr std::size_t kLinesAbove = 3;
constexpr std::size_t kLinesBelow = 1;

std::size_t rows_of(ScreenSize size) {
  return size.lines > kLinesAbove + kLinesBelow ? size.lines - kLinesAbove - kLinesBelow : 1;
}

std::string_view word_of(KeyOrder order) {
  switch (order) {
    case KeyOrder::key: return "key";
    case KeyOrder::age: return "age";
    case KeyOrder::waiting: return "waiting";
  }
  return "key";
}

KeyOrder next(KeyOrder order) {
  if (order == KeyOrder::key) return KeyOrder::age;
  return order == KeyOrder::age ? KeyOrder::waiting : KeyOrder::key;
}

/// All do if nothing was typed.
bool contains_or_matches(const std::string& key, const std::string& pattern) {
  if (pattern.find_first_of("*?[") == pattern.npos) return key.find(pattern) != key.npos;
  return matches_any({pattern}, key);
}

std::string summary(const TopScreen& screen) {
  std::size_t held = 0, stale = 0;
  std::int64_t waiting = 0;
  for (const Inspection& seen : screen.keys) {
    held += key_state(seen) == "held" ? 1 : 0;
    stale += key_state(seen) == "stale" ? 1 : 0;
    waiting += seen.waiting();
  }
  const bool some = screen.keys.size() < screen.all.size();
  const std::string matching =
      screen.pattern.empty() ? "" : fmt::format(" match {}", sanitized(screen.pattern, 40));
  return fmt::format("rlock top  {}{} keys{}, {} held, {} stale, {} wait  sorted by {}, every {}  {}",
                     screen.keys.size(), some ? fmt::format(" of {}", screen.all.size()) : "", matching, held,
                     stale, waiting, word_of(screen.order), describe(screen.every),
                     sanitized(screen.server, 200));
}

std::vector<ScreenLine> help_lines() {
  std::vector<ScreenLine> lines;
  for (const char* line :
       {"up, down    choose a key (PgUp, PgDn, Home, End; k, j)",
        "Enter       all about it, as rlock inspect",
        "s           sort by key, age (oldest first), waiting (most first)",
        "/           show the keys that contain what you type, or that match a pattern with *; Esc: all keys",
        "?           this", "q           back, or the end", "", "held        somebody has it, and renews",
        "stale       not renewed for half its lease, or without TTL",
        "kept        nothing runs; --min-hold keeps it", "open closed of semaphores, pools and latches"})
    lines.push_back({line});
  return lines;
}

std::vector<ScreenLine> detail_lines(const TopScreen& screen) {
  if (screen.keys.empty()) return {{"it has gone"}};
  constexpr std::size_t kNameColumn = 14;
  std::vector<ScreenLine> lines;
  for (std::string& line : split(inspection_text(screen.keys[screen.selected], kNameColumn), '\n'))
    lines.push_back({std::move(line)});
  return lines;
}

}  // namespace

void TopScreen::take(std::vector<Inspection> found) {
  all = std::move(found);
  choose();
}

/// The keys that pass, from all.
void TopScreen::choose() {
  // The first line of the list stays the first: a person who has chosen no key watches the top.
  const bool follows = selected > 0 || view == View::detail;
  const LockName name = selected < keys.size() ? keys[selected].name : LockName{};
  keys.clear();
  std::ranges::copy_if(all, std::back_inserter(keys), [this](const Inspection& seen) {
    return passes(filter, seen) && contains_or_matches(as_typed(seen.name), pattern);
  });
  sort_keys(keys, order);
  const auto same = std::ranges::find(keys, name, &Inspection::name);
  if (follows && same != keys.end()) selected = static_cast<std::size_t>(same - keys.begin());
  selected = std::min(selected, keys.empty() ? 0 : keys.size() - 1);
}

void TopScreen::fit(ScreenSize size) {
  const std::size_t rows = rows_of(size);
  first = std::min(first, selected);
  if (selected >= first + rows) first = selected - rows + 1;
  if (keys.size() <= rows) first = 0;
}

/// A key while the pattern is typed. False: it has its usual meaning.
bool TopScreen::type(const Stroke& stroke) {
  constexpr std::size_t kLongestPattern = 200;
  const auto is_inside = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  if (stroke.key == Key::escape || stroke.key == Key::enter) {
    typing = false;
    if (stroke.key == Key::escape) pattern.clear();
  } else if (stroke.key == Key::erase) {
    while (!pattern.empty() && is_inside(pattern.back())) pattern.pop_back();
    if (!pattern.empty()) pattern.pop_back();
  } else if (!stroke.text.empty()) {
    if (pattern.size() < kLongestPattern) pattern += stroke.text;
  } else {
    return false;
  }
  selected = 0;
  choose();
  return true;
}

bool TopScreen::press(const Stroke& stroke, ScreenSize size) {
  if (typing && type(stroke)) {
    fit(size);
    return true;
  }
  const Key key = stroke.key;
  const std::size_t rows = rows_of(size), last = keys.empty() ? 0 : keys.size() - 1;
  const bool closes = key == Key::quit || key == Key::escape || key == Key::enter || key == Key::help;
  if (view != View::list && closes) {
    view = View::list;
    return true;
  }
  switch (key) {
    case Key::quit: return false;
    case Key::sort:  // for what comes first now; the line that was selected may be far below it
      order = next(order);
      sort_keys(keys, order);
      selected = 0;
      break;
    case Key::up: selected -= std::min<std::size_t>(selected, 1); break;
    case Key::down: selected = std::min(selected + 1, last); break;
    case Key::page_up: selected -= std::min(selected, rows); break;
    case Key::page_down: selected = std::min(selected + rows, last); break;
    case Key::home: selected = 0; break;
    case Key::end: selected = last; break;
    case Key::enter: view = keys.empty() ? View::list : View::detail; break;
    case Key::help: view = View::help; break;
    case Key::filter: typing = true; [[fallthrough]];
    case Key::escape:
      pattern.clear();
      choose();
      break;
    case Key::erase:
    case Key::other: break;
  }
  fit(size);
  return true;
}

std::vector<LockName> TopScreen::shown(ScreenSize size) const {
  std::vector<LockName> names;
  for (std::size_t i = first; i < keys.size() && i < first + rows_of(size); ++i)
    names.push_back(keys[i].name);
  return names;
}

std::vector<ScreenLine> TopScreen::lines(ScreenSize size) const {
  const std::size_t rows = rows_of(size);
  std::vector<ScreenLine> lines{{summary(*this)}, {trouble.empty() ? note : trouble, !trouble.empty()}};
  std::vector<ScreenLine> body;
  if (view == View::help) body = help_lines();
  if (view == View::detail) body = detail_lines(*this);
  if (view == View::list) {
    const auto begin = keys.begin() + static_cast<std::ptrdiff_t>(std::min(first, keys.size()));
    const auto count = std::min<std::size_t>(rows, static_cast<std::size_t>(keys.end() - begin));
    const std::vector<Inspection> some{begin, begin + static_cast<std::ptrdiff_t>(count)};
    for (std::string& line : key_table(some, size.columns)) body.push_back({std::move(line)});
    // The line of titles comes first.
    if (!some.empty()) {
      body[selected - first + 1].text = padded_to(body[selected - first + 1].text, size.columns);
      body[selected - first + 1].marked = true;
    }
  }
  if (body.size() > rows + 1) body.resize(rows + 1);
  std::ranges::move(body, std::back_inserter(lines));
  lines.resize(kLinesAbove + rows);
  if (typing)
    lines.push_back({fmt::format("/{}_  Enter keep  Esc all keys", sanitized(pattern, 200))});
  else
    lines.push_back(
        {view == View::list ? "q quit  s sort  / filter  up down  Enter all about it  ? help" : "q back"});
  for (ScreenLine& line : lines) line.text = cut_to(line.text, size.columns);
  return lines;
}

}  // namespace rlock
