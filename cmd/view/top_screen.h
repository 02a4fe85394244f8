#pragma once

#include <string>
#include <vector>

#include "cmd/cli/full_screen.h"
#include "cmd/view/key_row.h"

namespace rlock {

/// What rlock top shows, and what keys change of it: pure.
struct TopScreen {
  enum class View { list, detail, help };

  std::vector<Inspection> keys{};  ///< each once
  std::string server{};            ///< as people call it
  std::string trouble{};           ///< why what is shown is old; empty: it is not
  std::string note{};              ///< what is under way
  Milliseconds every{1000};
  KeyOrder order = KeyOrder::key;
  View view = View::list;
  std::size_t selected = 0;  ///< of keys
  std::size_t first = 0;     ///< the first on the screen

  /// Takes new keys and sorts them. The selected key stays selected, or the first line if that was selected.
  void take(std::vector<Inspection> found);

  /// Answers false where it is the end.
  bool press(Key key, ScreenSize size);

  /// Those on the screen.
  std::vector<LockName> shown(ScreenSize size) const;

  /// REQUIRES: what is selected is on the screen, as after press() and fit().
  std::vector<ScreenLine> lines(ScreenSize size) const;

  /// Scrolls until what is selected is on the screen.
  void fit(ScreenSize size);
};

}  // namespace rlock
