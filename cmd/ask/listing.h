#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/ask/inspector.h"
#include "cmd/ask/search.h"

namespace rlock {

/// The inspections of several keys.
struct Listing {
  std::vector<Inspection> seen;  ///< all keys of the first server, then those of the second, …
  std::set<std::string> silent;  ///< the servers that did not answer, and the keys that could not be read
  std::optional<CutShort> cut_short;
  Milliseconds scan_time{0};   ///< how long the search could take
  bool shard_missing = false;  ///< a shard of a Cluster did not answer, but the others are shown
  bool complete = true;        ///< nothing is missing, and each key could be read
};

/// The approximate size of an inspection in memory, in bytes.
std::size_t size_of(const Inspection& seen);

/// Inspects the keys that the user named. Throws Error if one of them cannot be inspected. In a Cluster, keys
/// of a shard that does not answer are left out, but Error is thrown if no key is left.
Listing list_named(Session& session, const std::vector<LockName>& names);

/// Searches for keys and inspects them. Both end after `scan_time`; `options.until` is ignored. Throws Error
/// if keys were found, but none can be inspected.
Listing list_found(Session& session, SearchOptions options, Milliseconds scan_time);

/// The inspections of the next keys of a search.
struct Page {
  std::vector<Inspection> seen;  ///< as in Listing
  bool last = false;
};

/// Like list_found(), but page by page in natural order, so that only one page is in memory. `take_page` gets
/// each page, and returns false to stop. The returned Listing has no `seen`.
using PageTaker = std::function<bool(Page page)>;
Listing list_pages(Session& session, SearchOptions options, Milliseconds scan_time,
                   const PageTaker& take_page);

/// Warns of each server that did not answer and each key that could not be read, and if the search was cut
/// short. `remedy`: what the user can do if the time was over.
void say_what_is_missing(const Listing& listing, std::string_view remedy);

/// The names of the keys, one a line, each once, as users type them.
std::string names_text(const std::vector<Inspection>& seen);

}  // namespace rlock
