#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rlock {

/// Columns of text for people. Pure; texts are sanitized already, and UTF-8.

/// How many columns of a terminal a text takes: two for wide characters, none for those that combine.
std::size_t columns_of(std::string_view text);

/// Cuts a text to so many columns; a text that was cut ends with "...".
std::string cut_to(std::string_view text, std::size_t columns);

/// The same, and fills it up with blanks.
std::string padded_to(std::string_view text, std::size_t columns);

/// How wide columns are to be that would like to be `wished`: together, with what stands between them, no
/// wider than `total`; 0: no limit. The widest of those that are `flexible` gives first, down to
/// kLeastColumn.
std::vector<std::size_t> fitted(std::vector<std::size_t> wished, const std::vector<bool>& flexible,
                                std::size_t total);
constexpr std::size_t kLeastColumn = 8;
constexpr std::string_view kBetweenColumns = "  ";

/// Lines of cells below each other, the first line the titles; the last column is not padded. `width`: of the
/// terminal; 0: there is none, texts are shown whole.
std::vector<std::string> table_lines(const std::vector<std::vector<std::string>>& rows,
                                     const std::vector<bool>& flexible, std::size_t width);

}  // namespace rlock
