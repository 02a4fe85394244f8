#pragma once

#include <string>
#include <vector>

#include "support/process.h"

namespace rlock::test {

/// Something a person does at a terminal with a command: the same with and without rlock in front of it.
struct TerminalScene {
  std::string title;
  Words shell;   ///< what runs on the terminal; empty: `bash -i`
  Words script;  ///< lines of ./script; `{}` stands where rlock would
  /// "text": typed, with {} as above and ^C ^Z ^\ ^D as keys. "< text": waited for on the screen;
  /// "< Stopped" also until every process that got the ^Z before it is stopped.
  Words steps;
};

/// What came of it, in words: the lines that began with "= ", the status, the terminal, the jobs that are left.
/// `rlock`: what stands for {}. It runs in a folder of its own, with ./script in it.
std::string play(const TerminalScene& scene, const std::string& rlock, const Process::Options& options);

/// All of them.
const std::vector<TerminalScene>& terminal_scenes();

}  // namespace rlock::test
