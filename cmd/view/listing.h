#pragma once

#include <set>
#include <string>
#include <vector>

#include "cmd/view/inspection.h"
#include "cmd/view/search.h"

namespace rlock {

/// What was seen of several keys.
struct Listing {
  std::vector<Inspection> seen;  ///< what each of several servers sees, one server after the other
  std::set<std::string> silent;  ///< who has not answered, and which keys could not be read
  std::string cut_short;         ///< why not all keys are shown: " after 10s"; empty: they are
  bool complete = true;          ///< nothing was cut short, and each key could be read
};

/// Of keys that somebody has named. Throws Error where one of them cannot be inspected.
Listing list_named(Session& session, const std::vector<LockName>& names);

/// Of those that a search finds; both end after `scan_time`. `options.until` is overruled.
/// Throws Error where none of them can be inspected.
Listing list_found(Session& session, SearchOptions options, Milliseconds scan_time);

/// On stderr, also with -q: who was silent, and that the search was cut short; `remedy`: what to do then.
void say_what_is_missing(const Listing& listing, std::string_view remedy);

/// Each key once, as one types it, one a line.
std::string names_text(const std::vector<Inspection>& seen);

}  // namespace rlock
