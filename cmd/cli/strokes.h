#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rlock {

/// What a stroke means to a screen.
enum class Meaning {
  quit,
  sort,
  up,
  down,
  page_up,
  page_down,
  home,
  end,
  enter,
  help,
  escape,
  filter,
  erase,
  other
};

/// A key of the keyboard that the user pressed.
struct Stroke {
  Meaning meaning;
  std::string text = {};  ///< what it adds to a text: "q", or one byte of a UTF-8 character

  Stroke(Meaning means, std::string stands_for = {}) : meaning(means), text(std::move(stands_for)) {}
  bool operator==(const Stroke&) const = default;
};

/// Parses the strokes that a terminal sent. The bytes of an incomplete one stay in `bytes`. A single ESC byte
/// is the Escape key.
std::vector<Stroke> strokes_in(std::string& bytes);

}  // namespace rlock
