#pragma once

#include <termios.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "cmd/cli/screen_size.h"
#include "loop/loop.h"

namespace rlock {

/// What a key is for.
enum class Key {
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

/// A key that a person pressed.
struct Stroke {
  Key key;
  std::string text =
      {};  ///< what it stands for where text is typed: "q"; a byte of a longer character; empty: nothing

  Stroke(Key pressed, std::string stands_for = {}) : key(pressed), text(std::move(stands_for)) {}
  bool operator==(const Stroke&) const = default;
};

/// The keys in what a terminal sent, which begins with a whole one. The bytes of a key that has not come as a
/// whole stay in `bytes`; an ESC of which nothing more has come is that key.
std::vector<Stroke> keys_in(std::string& bytes);

/// One line of a screen.
struct ScreenLine {
  std::string text;  ///< harmless, and no wider than the screen
  bool marked = false;
};

/// Lines as a terminal draws them, each below the other from the top, over whatever was there. `utf8`: it
/// shows UTF-8; else each character that is not ASCII becomes '?'.
std::string drawn(const std::vector<ScreenLine>& lines, ScreenSize size, bool utf8);

/// Does the environment say that the terminal shows UTF-8?
bool shows_utf8() noexcept;

/// The controlling terminal, for a program that draws all of it: the alternate screen, no echo, keys at once.
/// Plain ECMA-48, which every terminal of today understands: no library has to be loaded, and rlock run
/// starts as quickly as without. Our own descriptor of it does not block, so that a terminal without
/// a reader cannot hold us up.
///
/// The destructor and leave() restore the terminal.
class FullScreen final : public Source {
 public:
  /// Throws Error{usage}, which says `instead`, where stdin and stdout are no terminal that can do this.
  FullScreen(Loop& loop, std::string_view instead);
  ~FullScreen() override;
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  void enter();
  void leave() noexcept;

  /// Draws what differs from what was drawn last. What the terminal does not take within a moment is drawn
  /// anew next time.
  void draw(const std::vector<ScreenLine>& lines);

  ScreenSize size() const noexcept { return screen_size(tty_.number()); }

  /// What has been typed since the last call.
  std::vector<Stroke> take_keys();

  /// Has the terminal hung up?
  bool gone() const noexcept { return gone_; }

  int fd() const override { return gone_ ? -1 : tty_.number(); }
  short interest() const override;
  void ready(short events, TimePoint now) override;

 private:
  bool write(std::string_view text) noexcept;

  Loop& loop_;
  Descriptor tty_;
  termios before_{};
  std::string typed_, drawn_;
  bool entered_ = false, gone_ = false;
  const bool utf8_;
};

}  // namespace rlock
