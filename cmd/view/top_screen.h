#pragma once

#include <string>
#include <vector>

#include "cmd/cli/full_screen.h"
#include "cmd/view/key_row.h"

namespace rlock {

/// What rlock top shows, and what keys change of it: pure.
struct TopScreen {
  enum class View { list, detail, help };

  std::vector<Inspection> all{};   ///< each key once
  std::vector<Inspection> keys{};  ///< those of them that pass both filters, sorted
  std::string server{};            ///< as people call it
  std::string trouble{};           ///< why what is shown is old; empty: it is not
  std::string note{};              ///< what is under way
  Milliseconds every{1000};
  KeyOrder order = KeyOrder::key;
  KeyFilter filter{};     ///< --state, --type and their like
  std::string pattern{};  ///< what was typed behind /: a part of a key, or a pattern if it has one of * ? [
  bool typing = false;    ///< it is being typed
  View view = View::list;
  std::size_t selected = 0;  ///< of keys
  std::size_t first = 0;     ///< the first on the screen

  /// Takes new keys and sorts them. The selected key stays selected, or the first line if that was selected.
  void take(std::vector<Inspection> found);

  /// Returns false if the user quits.
  bool press(const Stroke& stroke, ScreenSize size);

  /// The keys on the screen.
  std::vector<LockName> shown(ScreenSize size) const;

  /// REQUIRES: what is selected is on the screen, as after press() and fit().
  std::vector<ScreenLine> lines(ScreenSize size) const;

  /// Scrolls until what is selected is on the screen.
  void fit(ScreenSize size);

 private:
  void choose();
  bool type(const Stroke& stroke);
};

}  // namespace rlock
