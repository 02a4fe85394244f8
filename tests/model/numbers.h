#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rlock::model {

/// A decimal number, as Redis reads one; nothing: it is none.
std::optional<std::int64_t> integer_in(std::string_view text);

/// The score of a member, as it is read and written; "-inf" and "+inf" too.
std::optional<double> score_in(std::string_view text);
std::string score_text(double score);

/// Numbers in `text` that are a time near `now`, in ms or in µs since the epoch, as their distance from it.
std::string without_clock(std::string_view text, std::int64_t now);

}  // namespace rlock::model
