#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/names.h"
#include "base/time.h"
#include "sync/watch/inspection.h"

namespace rlock {

/// A holder, for people who wait: "alice@ci-7 pid 4121 for 12m03s (make) "hotfix 42"", "8d1f...:57 (a
/// Redisson client)", "root@web-3 (report.sh), finished 40s ago (exit 0)". `now`: the server's time; empty if
/// it is unknown.
std::string holder_text(const Holder& holder, std::optional<ServerTime> now);

/// The same for a row of a table: "alice@ci-7 (make)".
std::string holder_cell(const Holder& holder);

/// The same for `rlock inspect`, with no text cut: "alice@ci-7 pid 4121 (make) for 12m03s "hotfix 42"".
std::string whole_holder_text(const Holder& holder, ServerTime now);

/// Names several holders: "A, B and C, and 4 more". `unnamed`: the number of further holders.
std::string holders_text(const std::vector<Holder>& holders, std::optional<ServerTime> now,
                         std::int64_t unnamed = 0);

/// What keeps a hold whose command has ended: "--min-hold".
std::string kept_by_text(const Metadata& facts);

/// When a hold ends: "expires in 26s if the holder is dead", "not renewed for 34s: the holder looks dead;
/// expires in 5s".
std::string outlook_text(const Holder& holder, ServerTime now);

/// An owner, cut to a recognizable length: "8d1f6a...:57".
std::string short_owner(const Owner& owner);

/// The same, but in full with --verbose.
std::string owner_text(const Owner& owner);

}  // namespace rlock
