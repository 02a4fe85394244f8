#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/names.h"
#include "base/time.h"
#include "sync/watch/inspect.h"

namespace rlock {

/// Who holds something, for people who wait: "alice@ci-7 pid 4121 for 12m03s (make) "hotfix 42"", "8d1f...:57
/// (a Redisson client)", "root@web-3 (report.sh), finished 40s ago (exit 0)". `now`: by the server's clock;
/// nothing where that is not known.
std::string holder_text(const Holder& holder, std::optional<Milliseconds> now);

/// Names several holders; `unnamed` is how many more there are: "A, B and C, and 4 more".
std::string holders_text(const std::vector<Holder>& holders, std::optional<Milliseconds> now,
                         std::int64_t unnamed = 0);

/// When a hold ends: "expires in 26s if the holder is dead", "not renewed for 34s: the holder looks dead; expires in 5s".
std::string outlook_text(const Holder& holder, Milliseconds now);

/// An owner cut to what tells it from others: "8d1f6a...:57".
std::string short_owner(const Owner& owner);

/// What kind of client an owner is who tells nothing about itself: "a Redisson client", "an rlock",
/// "unknown".
std::string_view client_text(const Holder& holder);

}  // namespace rlock
