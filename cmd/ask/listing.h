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
  std::vector<Inspection> seen;  ///< all keys of the first server, then those of the second, ...
  std::set<std::string> silent;  ///< the servers that did not answer, and the keys that could not be read
  std::string cut_short;         ///< why not all keys are shown: " after 10s"; empty: they are
  bool shard_missing = false;    ///< a shard of a Cluster did not answer: the others are shown
  bool complete = true;          ///< nothing was cut short, and each key could be read
};

/// The approximate size of an inspection in memory, in bytes.
std::size_t size_of(const Inspection& seen);

/// Inspects the keys that the user has named. Throws Error if one of them cannot be inspected; in a
/// Cluster, if none can.
Listing list_named(Session& session, const std::vector<LockName>& names);

/// Searches for keys and inspects them; both end after `scan_time`, and `options.until` is ignored. Throws
/// Error if none of them can be inspected.
Listing list_found(Session& session, SearchOptions options, Milliseconds scan_time);

/// The same page by page, in natural order, so that memory holds one page only. `take_page` gets each page
/// and returns false to stop. `last`: this is the last page. The returned Listing has no `seen`: the pages
/// had it.
using PageTaker = std::function<bool(Listing page, bool last)>;
Listing list_pages(Session& session, SearchOptions options, Milliseconds scan_time,
                   const PageTaker& take_page);

/// On stderr, also with -q: who was silent, and that the search was cut short; `remedy`: what to do then.
void say_what_is_missing(const Listing& listing, std::string_view remedy);

/// Each key once, as one types it, one a line.
std::string names_text(const std::vector<Inspection>& seen);

}  // namespace rlock
