#pragma once

#include <string>
#include <vector>

#include "cmd/ask/listing.h"
#include "cmd/cli/options.h"
#include "cmd/server/session.h"
#include "cmd/view/key_row.h"

namespace rlock {

/// Which keys list, top and metrics speak of.
struct KeyOptions {
  std::vector<std::string> patterns;  ///< as typed, for keys without their prefix; none: all keys
  bool all = false;                   ///< also what has no metadata of rlock's
  Milliseconds scan_time{10000};
};

/// PATTERN..., --all and --scan-time.
void declare_key_options(VerbSpec& spec, KeyOptions& options);

/// Which of them are shown, and in which order.
struct KeyChoice {
  KeyFilter filter;
  std::string order = "key";
};

/// --state, --type, --host, --older and --sort.
void declare_key_choice(VerbSpec& spec, KeyChoice& choice);

/// For a search().
SearchOptions search_options(const KeyOptions& options);

}  // namespace rlock
