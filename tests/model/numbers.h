#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rlock::model {

/// A decimal number in the form of Redis; empty: it is none.
std::optional<std::int64_t> integer_in(std::string_view text);

/// The score of a member, as it is read and written; "-inf" and "+inf" too.
std::optional<double> score_in(std::string_view text);
std::string score_text(double score);

/// `text` with each time near `now` (ms or µs since the epoch) replaced by its distance from `now`.
std::string without_clock(std::string_view text, std::int64_t now);

}  // namespace rlock::model
