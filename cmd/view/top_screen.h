#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cmd/cli/full_screen.h"
#include "cmd/view/key_row.h"

namespace rlock {

/// The screen of rlock top, and what a stroke changes on it. Pure: it knows neither terminal nor server.
struct TopScreen {
  enum class View { list, detail, help };

  std::vector<Inspection> all{};   ///< each key once
  std::vector<Inspection> keys{};  ///< the keys that pass both filters, sorted
  std::string server{};            ///< for people
  std::string trouble{};           ///< why the screen is outdated; empty: it is not
  std::string note{};              ///< the work under way
  Milliseconds every{1000};
  KeyOrder order = KeyOrder::key;
  KeyFilter filter{};     ///< --state, --type and their like
  std::string pattern{};  ///< typed behind /: a part of a key, or a pattern if it has *, ? or [...]
  bool typing = false;    ///< the user is typing it
  View view = View::list;
  std::size_t selected = 0;  ///< index in keys
  std::size_t first = 0;     ///< index in keys of the first line on the screen

  /// Takes new keys and sorts them. The selection stays on its key. But if the first line of the list was
  /// selected, the first line stays selected.
  void take(std::vector<Inspection> found);

  /// Returns false if the user quits.
  bool press(const Stroke& stroke, ScreenSize size);

  /// The keys on the screen.
  std::vector<LockName> shown(ScreenSize size) const;

  /// REQUIRES: the selected key is on the screen, as after press() and fit().
  std::vector<ScreenLine> lines(ScreenSize size) const;

  /// Scrolls until the selected key is on the screen.
  void fit(ScreenSize size);

 private:
  void choose();
  bool type(const Stroke& stroke);
};

}  // namespace rlock
