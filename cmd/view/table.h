#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rlock {

/// Text tables for people. The functions are pure, and want sanitized UTF-8.

/// The number of terminal columns of a text: two for a wide character, none for a combining one.
std::size_t columns_of(std::string_view text);

/// Cuts a text to this many columns; a text that was cut ends with "...".
std::string cut_to(std::string_view text, std::size_t columns);

/// Like cut_to(), but also pads a shorter text with blanks.
std::string padded_to(std::string_view text, std::size_t columns);

/// Fits columns with the `wished` widths into `total`, including the space between them; 0: no limit. The
/// widest of the `flexible` columns shrinks first, down to kLeastColumn.
std::vector<std::size_t> fitted(std::vector<std::size_t> wished, const std::vector<bool>& flexible,
                                std::size_t total);
constexpr std::size_t kLeastColumn = 8;
constexpr std::string_view kBetweenColumns = "  ";

/// The lines of a table; the first line has the titles, and the last column is not padded. `width`: of the
/// terminal; 0: there is no terminal, and nothing is cut.
std::vector<std::string> table_lines(const std::vector<std::vector<std::string>>& rows,
                                     const std::vector<bool>& flexible, std::size_t width);

}  // namespace rlock
