#pragma once

#include <string>
#include <vector>

#include "support/process.h"

namespace rlock::test {

/// A user's actions at a terminal with a command: the same with and without rlock in front of it.
struct TerminalScene {
  std::string title;
  Words shell;   ///< the program on the terminal; empty: `bash -i`
  Words script;  ///< lines of ./script; `{}` stands for rlock
  /// "text" is typed, with {} as above and ^C ^Z ^\ ^D as keys. "< text" is awaited on the screen. "<
  /// Stopped" also waits until every process that got the ^Z is stopped.
  Words steps;
};

/// Plays a scene in its own folder with ./script. Returns the result as text: the lines that began with "= ",
/// the status, the terminal, and the remaining jobs. `rlock`: replaces {}.
std::string play(const TerminalScene& scene, const std::string& rlock, const Process::Options& options);

/// All scenes.
const std::vector<TerminalScene>& terminal_scenes();

}  // namespace rlock::test
