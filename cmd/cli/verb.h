#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cmd/cli/options.h"

namespace rlock {

/// Something that rlock can be told to do: `run`, `lock acquire`, ... Made for one command line, it declares
/// its options, which write into it, and then acts.
class Verb {
 public:
  virtual ~Verb() = default;

  /// Its screen and its options. Called once; the declaration lives no longer than the verb.
  virtual VerbSpec spec() = 0;

  /// Does what was asked and answers the exit status. `started`:
  /// when rlock began, since waits are counted from there.
  /// `command`: of a verb that runs one, its words.
  virtual int act(TimePoint started, std::vector<std::string> command) = 0;

  /// Its words were refused (those options are set that could be), or act() has thrown. The user knows
  /// already: this is for a verb that keeps a record of how it ended.
  virtual void failed(const Error& error) noexcept { static_cast<void>(error); }
};

/// One line of the table of verbs. A name of two words is a noun and its verb.
struct VerbEntry {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Verb> (*make)();
};

/// All verbs, in the order in which people look for them (cmd/verbs/verbs.cpp).
std::span<const VerbEntry> verbs();

/// Nothing if there is none of this name.
const VerbEntry* find_verb(std::string_view name);

/// `rlock --help`.
std::string main_screen();

/// `rlock lock --help`: the verbs of a noun. Empty where no verb has that noun.
std::string noun_screen(std::string_view noun);

}  // namespace rlock
