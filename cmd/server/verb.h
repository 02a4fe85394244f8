#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cmd/cli/options.h"
#include "cmd/cli/wait_options.h"
#include "cmd/server/server_options.h"

namespace rlock {

class Verb;

/// Options and operands that many verbs take. Verb declares them for a row that names them, and keeps their values.
namespace takes {
enum : unsigned {
  nothing = 0,
  server = 1,    ///< the options of the server
  wait = 2,      ///< -n, -w and -E
  key = 4,       ///< one KEY
  counter = 8,   ///< one KEY, also of an idle pool, semaphore or latch
  keys = 16,     ///< KEY...
  counters = 32  ///< [KEY...]
};
}

/// One row of the table of verbs, at the end of the file that has the verb. A name of two words is a noun and its verb.
struct VerbEntry {
  std::string_view name;
  std::string_view summary;  ///< its line on the screen of rlock or of its noun
  unsigned takes;            ///< bits of rlock::takes
  std::string_view exits;    ///< the exit statuses of its own, "0 done, 1 nothing there"; empty: none to tell
  std::unique_ptr<Verb> (*create)();
  std::string_view errors = {};  ///< the other statuses; empty: those of every verb that takes as much

  /// The verb, ready for one command line.
  std::unique_ptr<Verb> make() const;
};

/// The rows of one file: those of a noun, or of a verb without one.
using VerbRows = std::span<const VerbEntry>;

/// Something that rlock can be told to do: `run`, `lock acquire`, ... Made for one command line, it declares
/// its options, which write into it, and then acts.
class Verb {
 public:
  virtual ~Verb() = default;

  /// Its screen and its options. Called once; the declaration lives no longer than the verb.
  VerbSpec spec();

  /// Does what was asked and answers the exit status. `started`:
  /// when rlock began, since waits are counted from there.
  /// `command`: of a verb that runs one, its words.
  virtual int act(TimePoint started, std::vector<std::string> command) = 0;

  /// Its words were refused (those options are set that could be), or act() has thrown. The user knows
  /// already: this is for a verb that keeps a record of how it ended.
  virtual void failed(const Error& error) noexcept { static_cast<void>(error); }

 protected:
  /// Says what it does, and adds the operands and options that its row does not name.
  virtual void declare(VerbSpec& spec) = 0;

  const VerbEntry& entry() const { return *entry_; }

  // What its row says that it takes.
  std::string key_;
  std::vector<std::string> keys_;
  WaitOptions wait_;
  ServerOptions server_;

 private:
  friend struct VerbEntry;
  const VerbEntry* entry_ = nullptr;
};

/// For VerbEntry::create.
template <class AnyVerb>
std::unique_ptr<Verb> create() {
  return std::make_unique<AnyVerb>();
}

}  // namespace rlock
