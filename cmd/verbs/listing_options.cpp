#include "cmd/verbs/listing_options.h"

#include "base/error.h"
#include "base/key_text.h"

namespace rlock {
namespace {

/// A setter that adds one of `choices`.
Setter one_more_of(std::vector<std::string>& words, std::string_view choices) {
  return [&words, choices](std::string_view value) {
    place_among(choices, value);
    words.emplace_back(value);
  };
}

}  // namespace

void declare_key_choice(VerbSpec& spec, KeyChoice& chosen) {
  spec.add({.names = "--state",
            .value = "STATE",
            .help = "held kept stale free open closed; may be repeated",
            .manual = "List only keys in state STATE. You may repeat the option.",
            .offer = Offer::choices,
            .choices = kKeyStates,
            .set = one_more_of(chosen.filter.states, kKeyStates)});
  spec.add({.names = "--type",
            .value = "TYPE",
            .help = "lock fair fenced read-write plain semaphore permit\nlatch; may be repeated",
            .manual = "List only keys of type TYPE. You may repeat the option.",
            .offer = Offer::choices,
            .choices = key_type_names(),
            .set = one_more_of(chosen.filter.types, key_type_names())});
  spec.add({.names = "--host",
            .value = "H",
            .help = "list only keys that host H holds; may be repeated",
            .set = [&chosen](std::string_view host) { chosen.filter.hosts.emplace_back(host); }});
  spec.add(
      {.names = "--older",
       .value = "DUR",
       .help = "list only keys that are held for DUR or longer",
       .manual =
           "If --min-hold or --once-per keeps a key after the command, DUR still counts from the acquire.",
       .set = into(chosen.filter.older)});
  spec.add(
      {.names = "--sort",
       .value = "WHAT",
       .help = "key age waiting",
       .standard = "key",
       .manual =
           "Sort by the name of the key, by the age of the hold (the oldest first), or by the number of waiters "
           "(the most first).",
       .offer = Offer::choices,
       .choices = kKeyOrders,
       .set = one_of(chosen.order, kKeyOrders, {KeyOrder::key, KeyOrder::age, KeyOrder::waiting})});
}

void declare_listing_options(VerbSpec& spec, ListingOptions& options) {
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
       .help =
           "also list keys without notes of rlock: Redisson's\nlocks, semaphores, pools, latches, counters",
       .manual =
           "rlock recognizes such keys by their value. On the server, a semaphore, a pool and a latch are numbers, "
           "like the counters of other programs, so rlock lists these counters, too. rlock stores no notes about "
           "semaphores, so it lists a semaphore only with --all, even if rlock created it. If no permit of a pool "
           "is taken, rlock lists the pool only with --all; most of such pools look like a semaphore, and are listed as one. "
           "rlock does not list a plain lock of another program, because it looks like any text; rlock inspect KEY "
           "shows it.",
       .set = into(options.all)});
  spec.add({.names = "--scan-time",
            .value = "DUR",
            .help = "search for keys for at most DUR",
            .standard = "10s",
            .set = into(options.scan_time)});
}

SearchOptions search_options(const ListingOptions& options) {
  return {
      .what = options.all ? SearchFor::all : SearchFor::facts,
      .until = kNever,
      .wanted = [&options](const LockName& name) { return matches_any(options.patterns, as_typed(name)); }};
}

}  // namespace rlock
