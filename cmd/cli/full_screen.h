#pragma once

#include <termios.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "cmd/cli/screen_size.h"
#include "cmd/cli/strokes.h"
#include "loop/loop.h"

namespace rlock {

/// One line of a screen.
struct ScreenLine {
  std::string text;  ///< harmless, and no wider than the screen
  bool marked = false;
};

/// The bytes that draw these lines from the top, over the old contents. `utf8`: the terminal shows UTF-8;
/// false: each character that is not ASCII becomes '?'.
std::string drawn(const std::vector<ScreenLine>& lines, ScreenSize size, bool utf8);

/// Does the environment say that the terminal shows UTF-8?
bool shows_utf8() noexcept;

/// The controlling terminal as a full screen: the alternate screen, no echo, and each stroke at once. It uses
/// escape sequences that every current terminal understands. So no library has to be loaded, and rlock run
/// starts as fast as without it. Our descriptor does not block, so a terminal without a reader cannot hold us
/// up.
///
/// The destructor and leave() restore the terminal.
class FullScreen final : public Source {
 public:
  /// Throws Error{usage} that recommends `instead` if stdin and stdout are no such terminal.
  FullScreen(Loop& loop, std::string_view instead);
  ~FullScreen() override;

  void enter();
  void leave() noexcept;

  /// Draws the lines, unless the screen shows them already. If the terminal does not take the output soon,
  /// the next call draws in any case.
  void draw(const std::vector<ScreenLine>& lines);

  ScreenSize size() const noexcept { return screen_size(tty_.number()); }

  /// The strokes since the last call.
  std::vector<Stroke> take_strokes();

  /// Has the terminal hung up?
  bool gone() const noexcept { return gone_; }

  int fd() const override { return gone_ ? -1 : tty_.number(); }
  void ready(short events, TimePoint now) override;

 private:
  bool write(std::string_view text) noexcept;

  Descriptor tty_;
  termios before_{};
  std::string typed_, drawn_;
  bool entered_ = false, gone_ = false;
  const bool utf8_;
  Membership membership_;
};

}  // namespace rlock
