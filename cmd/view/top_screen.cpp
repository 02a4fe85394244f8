#include "cmd/view/top_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/key_text.h"
#include "base/text.h"
#include "cmd/cli/terminal.h"
#include "cmd/view/inspection_text.h"
#include "cmd/view/key_table.h"
#include "cmd/view/table.h"

namespace rlock {
namespace {

/// Above the list: the summary, a line for trouble or a note, and the titles. Below it: the strokes, or the
/// pattern that is typed.
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

/// An empty pattern matches every key. A '[' without a ']' stands for itself, as in the patterns of list.
bool contains_or_matches(const std::string& key, const std::string& pattern) {
  const std::size_t bracket = pattern.find('[');
  const bool choice = bracket != pattern.npos && pattern.find(']', bracket + 2) != pattern.npos;
  if (!choice && pattern.find_first_of("*?") == pattern.npos) return key.find(pattern) != key.npos;
  return matches_any({pattern}, key);
}

std::string summary(const TopScreen& screen) {
  std::size_t held = 0, stale = 0;
  std::int64_t waiting = 0;
  for (const Inspection& seen : screen.keys) {
    held += key_state(seen) == "held" ? 1 : 0;
    stale += is_stale(seen) ? 1 : 0;
    waiting += seen.waiting();
  }
  const bool some = screen.keys.size() < screen.all.size();
  const std::string matching =
      screen.pattern.empty() ? "" : fmt::format(" match {}", sanitized(screen.pattern, 40));
  return fmt::format("rlock top  {}{}{}, {} held, {} stale, {} {}  sorted by {}, every {}  {}",
                     some ? fmt::format("{} of ", screen.keys.size()) : "",
                     counted(static_cast<std::int64_t>(screen.all.size()), "key"), matching, held, stale,
                     waiting, waiting == 1 ? "waits" : "wait", word_of(screen.order), describe(screen.every),
                     sanitized(screen.server));
}

std::vector<ScreenLine> help_lines() {
  std::vector<ScreenLine> lines;
  for (const char* line :
       {"up, down    choose a key (PgUp, PgDn, Home, End; k, j)",
        "Enter       show all about the key, as rlock inspect does",
        "s           sort by key, age (oldest first), waiting (most first)",
        "/           show the keys that contain what you type, or that match a pattern with *; Esc: all keys",
        "?           show this help", "q           go back, or end rlock top", "",
        "held        a holder has the key", "stale       no renewal for half a lease, or no TTL",
        "kept        its command has ended; --min-hold or --once-per keeps the key",
        "open closed of semaphores, pools and latches"})
    lines.push_back({line});
  return lines;
}

std::vector<ScreenLine> detail_lines(const TopScreen& screen) {
  if (screen.keys.empty()) return {{"the key is gone"}};
  constexpr std::size_t kNameColumn = 14;
  std::vector<ScreenLine> lines;
  for (std::string& line : split(inspection_text(screen.keys[screen.selected], kNameColumn), '\n'))
    lines.push_back({std::move(line)});
  return lines;
}

/// A line of titles, then one for each key that is shown; the selected one is marked.
std::vector<ScreenLine> list_lines(const TopScreen& screen, ScreenSize size) {
  const auto begin =
      screen.keys.begin() + static_cast<std::ptrdiff_t>(std::min(screen.first, screen.keys.size()));
  const auto count =
      std::min<std::size_t>(rows_of(size), static_cast<std::size_t>(screen.keys.end() - begin));
  const std::vector<Inspection> some{begin, begin + static_cast<std::ptrdiff_t>(count)};
  std::vector<ScreenLine> lines;
  for (std::string& line : key_table(some, size.columns)) lines.push_back({std::move(line)});
  if (some.empty()) return lines;
  ScreenLine& selected = lines[screen.selected - screen.first + 1];
  selected = {padded_to(selected.text, size.columns), true};
  return lines;
}

}  // namespace

void TopScreen::take(std::vector<Inspection> found) {
  all = std::move(found);
  choose();
}

/// Chooses and sorts the keys to show.
void TopScreen::choose() {
  // A user who has selected no key watches the top: then the first line stays selected.
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

/// Handles a stroke while a pattern is typed. Returns false if the stroke has its usual meaning.
bool TopScreen::type(const Stroke& stroke) {
  constexpr std::size_t kLongestPattern = 200;
  if (stroke.meaning == Meaning::escape || stroke.meaning == Meaning::enter) {
    typing = false;
    if (stroke.meaning == Meaning::escape) pattern.clear();
  } else if (stroke.meaning == Meaning::erase) {
    erase_last_character(pattern);
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
  const Meaning meaning = stroke.meaning;
  const std::size_t rows = rows_of(size), last = keys.empty() ? 0 : keys.size() - 1;
  const bool closes = meaning == Meaning::quit || meaning == Meaning::escape || meaning == Meaning::enter ||
                      meaning == Meaning::help;
  if (view != View::list && closes) {
    view = View::list;
    return true;
  }
  switch (meaning) {
    case Meaning::quit: return false;
    case Meaning::sort:  // shows the new first line; the selected key may be far below it
      order = next(order);
      sort_keys(keys, order);
      selected = 0;
      break;
    case Meaning::up: selected -= std::min<std::size_t>(selected, 1); break;
    case Meaning::down: selected = std::min(selected + 1, last); break;
    case Meaning::page_up: selected -= std::min(selected, rows); break;
    case Meaning::page_down: selected = std::min(selected + rows, last); break;
    case Meaning::home: selected = 0; break;
    case Meaning::end: selected = last; break;
    case Meaning::enter: view = keys.empty() ? View::list : View::detail; break;
    case Meaning::help: view = View::help; break;
    case Meaning::filter: typing = true; [[fallthrough]];
    case Meaning::escape:
      pattern.clear();
      choose();
      break;
    case Meaning::erase:
    case Meaning::other: break;
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
  std::vector<ScreenLine> body = view == View::help     ? help_lines()
                                 : view == View::detail ? detail_lines(*this)
                                                        : list_lines(*this, size);
  if (body.size() > rows + 1) body.resize(rows + 1);
  std::ranges::move(body, std::back_inserter(lines));
  lines.resize(kLinesAbove + rows);
  if (typing)
    lines.push_back({fmt::format("/{}_  Enter keep  Esc all keys", sanitized(pattern))});
  else
    lines.push_back(
        {view == View::list ? "q quit  s sort  / filter  up down  Enter all about it  ? help" : "q back"});
  for (ScreenLine& line : lines) line.text = cut_to(line.text, size.columns);
  return lines;
}

}  // namespace rlock
