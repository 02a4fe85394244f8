#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "cmd/ask/search.h"
#include "cmd/ask/survey.h"

namespace rlock {

/// What was seen of several keys.
struct Listing {
  std::vector<Inspection> seen;  ///< what each of several servers sees, one server after the other
  std::set<std::string> silent;  ///< who has not answered, and which keys could not be read
  std::string cut_short;         ///< why not all keys are shown: " after 10s"; empty: they are
  bool shard_missing = false;    ///< a shard of a Cluster did not answer: the others are shown
  bool complete = true;          ///< nothing was cut short, and each key could be read
};

/// About how much memory it takes.
std::size_t size_of(const Inspection& seen);

/// Of keys that somebody has named. Throws Error where one of them cannot be inspected; in a Cluster where none
/// can.
Listing list_named(Session& session, const std::vector<LockName>& names);

/// Of those that a search finds; both end after `scan_time`. `options.until` is overruled.
/// Throws Error where none of them can be inspected.
Listing list_found(Session& session, SearchOptions options, Milliseconds scan_time);

/// The same page by page, in natural order, so that memory holds one page only: each is given to `take_page`, which
/// answers false where it wants no more. `last`: no other page follows. The answer has everything but what was seen.
using PageTaker = std::function<bool(Listing page, bool last)>;
Listing list_pages(Session& session, SearchOptions options, Milliseconds scan_time,
                   const PageTaker& take_page);

/// On stderr, also with -q: who was silent, and that the search was cut short; `remedy`: what to do then.
void say_what_is_missing(const Listing& listing, std::string_view remedy);

/// Each key once, as one types it, one a line.
std::string names_text(const std::vector<Inspection>& seen);

}  // namespace rlock
