#pragma once

#include <optional>
#include <string>

#include "base/names.h"
#include "base/time.h"
#include "sync/metadata.h"

namespace rlock {

/// Who holds something, for people: "alice@ci-7 pid 4121 for 12m03s (make) "hotfix 42"", "8d1f...:57 (a Redisson client)", "root@web-3
/// (report.sh), finished 40s ago (exit 0)". `now`: by the server's clock; `facts`: nothing where the holder has told none.
std::string holder_text(const Owner& owner, const std::optional<Metadata>& facts,
                        std::optional<Milliseconds> now);

/// An owner cut to what tells it from others: "8d1f6a...:57".
std::string short_owner(const Owner& owner);

}  // namespace rlock
