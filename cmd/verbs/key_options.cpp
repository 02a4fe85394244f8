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
       .help = "also list keys without notes of rlock: locks of\nRedisson, semaphores and other numbers",
       .manual =
           "rlock recognizes such keys by their value. A semaphore, a pool and a latch are numbers on the server, so "
           "rlock also lists the counters of other programs. rlock stores no notes about semaphores: it lists its own "
           "with --all only. The plain lock of another program looks like any text, so rlock does not list it; rlock "
           "inspect KEY shows it.",
       .set = into(options.all)});
  spec.add({.names = "--scan-time",
            .value = "DUR",
            .help = "search for keys for at most DUR",
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
