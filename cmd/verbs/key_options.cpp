#include "cmd/verbs/key_options.h"

#include "base/error.h"
#include "base/key_text.h"
#include "cmd/view/key_row.h"

namespace rlock {

void declare_key_options(VerbSpec& spec, KeyOptions& options) {
  spec.operands.push_back({.name = "PATTERN",
                           .offer = Offer::counter,
                           .optional = true,
                           .many = true,
                           .set = [&options](std::string_view value) {
                             if (value.empty())
                               throw Error{Error::usage, "a pattern has at least one byte; '*' is all keys"};
                             options.patterns.emplace_back(value);
                           }});
  spec.add(
      {.names = "--all",
       .help = "also what rlock wrote nothing about: Redisson's\nlocks, and every number",
       .manual =
           "Also locks, semaphores, pools and latches of which rlock has written nothing down, such as "
           "those of Redisson, recognized by what stands under the key. Semaphores, pools and latches "
           "are numbers, so other programs' counters are listed, too. rlock writes nothing about its own "
           "semaphores either: they are listed with --all only. A plain token lock of another program is "
           "text like any other, so it is not listed: rlock inspect KEY shows it.",
       .set = into(options.all)});
  spec.add({.names = "--scan-time",
            .value = "DUR",
            .help = "look for keys no longer than this",
            .standard = "10s",
            .set = into(options.scan_time)});
}

SearchOptions search_options(const KeyOptions& options) {
  return {
      .what = options.all ? SearchFor::all : SearchFor::facts,
      .until = kNever,
      .wanted = [&options](const LockName& name) { return matches_any(options.patterns, as_typed(name)); }};
}

}  // namespace rlock
