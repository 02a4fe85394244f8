#pragma once

#include <memory>
#include <optional>
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

/// Options and operands that many verbs take. If the row of a verb names them, Verb declares them and keeps
/// their values.
namespace takes {
enum : unsigned {
  server = 1,     ///< the options of the server
  wait = 2,       ///< -n, -w and -E
  key = 4,        ///< one KEY
  counter = 8,    ///< one KEY, also of an idle pool, semaphore or latch
  keys = 16,      ///< KEY...
  counters = 32,  ///< [KEY...]
  json = 64       ///< --json, behind the options that the verb declares itself
};
}

/// One row of the table of verbs, at the end of the verb's file. A name of two words is a noun and a verb.
struct VerbEntry {
  std::string_view name;
  std::string_view summary;  ///< its line in the help of rlock or of its noun
  unsigned takes = 0;        ///< bits of rlock::takes
  std::string_view exits{};  ///< its own exit statuses, "0 done, 1 nothing there"; empty: none to print
  std::unique_ptr<Verb> (*create)();
  std::string_view errors{};  ///< the other statuses; empty: those of every verb that takes the same

  /// Makes the verb for one command line.
  std::unique_ptr<Verb> make() const;
};

/// For VerbEntry::errors: the statuses of a verb that meets no other types, and of one that asks before it deletes.
constexpr std::string_view kErrorsOfServer = "64 usage, 69 no server, 77 denied, 78 configuration";
constexpr std::string_view kErrorsIfAsking =
    "64 usage (also without a terminal and --yes), 65 other type, 69 no server, 77 78 errors";

/// The rows of the verbs that one file defines.
using VerbRows = std::span<const VerbEntry>;

/// Something that rlock can do: `run`, `lock acquire`, and so on. It is made for one command line, declares
/// its options, which write into it, and then acts.
class Verb {
 public:
  virtual ~Verb() = default;

  std::string_view name() const { return entry_->name; }

  /// Its help and its options. It must not outlive the verb.
  const VerbSpec& spec();

  /// Does what the user asked for, and returns the exit status. `started`: the start of rlock, from which
  /// waits count. `command`: the words of the command, for a verb that runs one.
  virtual int act(TimePoint started, std::vector<std::string> command) = 0;

  /// Called after the command line was refused (valid options are set), or after act() has thrown. The error
  /// has been printed already. This is for a verb that records how it ended.
  virtual void failed(const Error& error) noexcept { static_cast<void>(error); }

 protected:
  /// Describes the verb, and adds the operands and options that its row does not name.
  virtual void declare(VerbSpec& spec) = 0;

  const VerbEntry& entry() const { return *entry_; }

  // The values of what its row names, or of the same option that it declares itself.
  std::string key_;
  std::vector<std::string> keys_;
  WaitOptions wait_;
  bool json_ = false;
  ServerOptions server_;

 private:
  friend struct VerbEntry;
  const VerbEntry* entry_ = nullptr;
  std::optional<VerbSpec> spec_;  ///< made by the first spec()
};

/// Makes a verb, for VerbEntry::create.
template <class AnyVerb>
std::unique_ptr<Verb> create() {
  return std::make_unique<AnyVerb>();
}

}  // namespace rlock
