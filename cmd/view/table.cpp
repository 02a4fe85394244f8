#include "cmd/view/table.h"

#include <algorithm>
#include <array>

namespace rlock {
namespace {

/// Cells are aligned up to this width, so that one long name does not push all others to the right. A longer
/// cell uses the free space of its own line.
constexpr std::size_t kMostAligned = 40;

struct Range {
  char32_t first, last;
};

/// Characters that are shown on the character before them.
constexpr std::array kCombining{Range{0x300, 0x36f},   Range{0x483, 0x489},    Range{0x591, 0x5bd},
                                Range{0x610, 0x61a},   Range{0x64b, 0x65f},    Range{0x93c, 0x93c},
                                Range{0x1ab0, 0x1aff}, Range{0x1dc0, 0x1dff},  Range{0x200b, 0x200d},
                                Range{0x20d0, 0x20ff}, Range{0xfe00, 0xfe0f},  Range{0xfe20, 0xfe2f},
                                Range{0xfeff, 0xfeff}, Range{0xe0100, 0xe01ef}};

/// Characters that are two columns wide.
constexpr std::array kWide{Range{0x1100, 0x115f},   Range{0x2e80, 0x303e},   Range{0x3041, 0xa4cf},
                           Range{0xa960, 0xa97f},   Range{0xac00, 0xd7a3},   Range{0xf900, 0xfaff},
                           Range{0xfe30, 0xfe6f},   Range{0xff00, 0xff60},   Range{0xffe0, 0xffe6},
                           Range{0x1f300, 0x1f64f}, Range{0x1f680, 0x1f6ff}, Range{0x1f900, 0x1f9ff},
                           Range{0x20000, 0x3fffd}};

template <std::size_t Count>
bool is_in(const std::array<Range, Count>& ranges, char32_t code) {
  return std::ranges::any_of(ranges, [=](Range range) { return range.first <= code && code <= range.last; });
}

/// The first UTF-8 character of a text that is not empty.
struct Character {
  std::size_t bytes;
  std::size_t columns;
};

Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {1, 1};
  const std::size_t bytes = std::min<std::size_t>(text.size(), lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2);
  char32_t code = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fU);
  return {bytes, is_in(kCombining, code) ? 0U : is_in(kWide, code) ? 2U : 1U};
}

/// The longest beginning with at most this many columns.
std::string_view beginning(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const Character next = first_of(text.substr(bytes));
    if (next.columns > columns) break;
    columns -= next.columns;
    bytes += next.bytes;
  }
  return text.substr(0, bytes);
}

/// The width of the widest cell. If that is more than kMostAligned, the width that nine of ten cells need,
/// but at least kMostAligned.
std::size_t aligned_width(const std::vector<std::vector<std::string>>& rows, std::size_t column) {
  std::vector<std::size_t> needed{0};
  for (const auto& row : rows) needed.push_back(columns_of(row[column]));
  std::ranges::sort(needed);
  return std::min(needed.back(), std::max(kMostAligned, needed[(needed.size() - 1) * 9 / 10]));
}

/// `spare`: the columns of the line that no column of the table uses.
std::string table_line(const std::vector<std::string>& row, const std::vector<std::size_t>& widths,
                       std::size_t spare) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const bool last = i + 1 == row.size();
    const std::size_t needed = columns_of(row[i]);
    const std::size_t borrowed = needed > widths[i] ? std::min(needed - widths[i], spare) : 0;
    spare -= borrowed;
    const std::size_t room = widths[i] + borrowed;
    line += last ? cut_to(row[i], room) : padded_to(row[i], room);
    if (!last) line += kBetweenColumns;
  }
  return line;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character next = first_of(text);
    columns += next.columns;
    text.remove_prefix(next.bytes);
  }
  return columns;
}

std::string cut_to(std::string_view text, std::size_t columns) {
  constexpr std::string_view kCut = "...";
  if (columns_of(text) <= columns) return std::string{text};
  if (columns <= kCut.size()) return std::string{beginning(text, columns)};
  return std::string{beginning(text, columns - kCut.size())} + std::string{kCut};
}

std::string padded_to(std::string_view text, std::size_t columns) {
  std::string cell = cut_to(text, columns);
  return cell + std::string(columns - columns_of(cell), ' ');
}

std::vector<std::size_t> fitted(std::vector<std::size_t> wished, const std::vector<bool>& flexible,
                                std::size_t total) {
  if (total == 0) return wished;
  std::size_t sum = kBetweenColumns.size() * (wished.size() - 1);
  for (const std::size_t width : wished) sum += width;
  while (sum > total) {
    std::size_t widest = wished.size();
    for (std::size_t i = 0; i < wished.size(); ++i)
      if (flexible[i] && wished[i] > kLeastColumn && (widest == wished.size() || wished[i] > wished[widest]))
        widest = i;
    if (widest == wished.size()) break;  // the lines are cut
    --wished[widest];
    --sum;
  }
  return wished;
}

std::vector<std::string> table_lines(const std::vector<std::vector<std::string>>& rows,
                                     const std::vector<bool>& flexible, std::size_t width) {
  std::vector<std::size_t> wished;
  for (std::size_t i = 0; i < flexible.size(); ++i) wished.push_back(aligned_width(rows, i));
  const std::vector<std::size_t> widths = fitted(wished, flexible, width);
  std::size_t used = kBetweenColumns.size() * (widths.size() - 1);
  for (const std::size_t column : widths) used += column;
  // The rest of the line. Without a terminal, texts are not cut.
  const std::size_t spare = width == 0 ? std::string::npos : width - std::min(width, used);
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line = table_line(row, widths, spare);
    lines.push_back(width == 0 ? std::move(line) : cut_to(line, width));
  }
  return lines;
}

}  // namespace rlock
