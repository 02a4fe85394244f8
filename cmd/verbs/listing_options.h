#pragma once

#include <string>
#include <vector>

#include "cmd/ask/listing.h"
#include "cmd/cli/options.h"
#include "cmd/server/session.h"
#include "cmd/view/key_row.h"

namespace rlock {

/// The keys that list, top and metrics print.
struct ListingOptions {
  std::vector<std::string> patterns;  ///< as typed, for keys without their prefix; empty: all keys
  bool all = false;                   ///< also keys without metadata of rlock
  Milliseconds scan_time{10000};
};

/// PATTERN..., --all and --scan-time.
void declare_listing_options(VerbSpec& spec, ListingOptions& options);

/// Which of these keys to print, and in which order.
struct KeyChoice {
  KeyFilter filter;
  KeyOrder order = KeyOrder::key;
};

/// --state, --type, --host, --older and --sort.
void declare_key_choice(VerbSpec& spec, KeyChoice& chosen);

/// The options for a search().
SearchOptions search_options(const ListingOptions& options);

}  // namespace rlock
