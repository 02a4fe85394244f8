#include "cmd/cli/suggest.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace rlock {
namespace {

/// Longer words are no typing mistakes, and must not cost quadratic time.
constexpr std::size_t kLongestWord = 40;

/// The limits of pasted(): a longer word is cut short, and words after the first seven are left out.
constexpr std::size_t kLongestPasted = 1024;
constexpr std::size_t kMostPasted = 7;

/// The number of letters to change, add, drop or swap with a neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> older(b.size() + 1), old(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) old[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = old[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({old[j] + 1, now[j - 1] + 1, changed});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], older[j - 2] + 1);
    }
    older.swap(old);
    old.swap(now);
  }
  return old[b.size()];
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view word, const std::vector<std::string_view>& known) {
  if (word.empty() || word.size() > kLongestWord) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    // A prefix of a known word, or a known word with more letters, counts as one mistake.
    const bool begun = (word.size() >= 2 && candidate.starts_with(word)) ||
                       (candidate.size() >= 3 && word.starts_with(candidate));
    const std::size_t mistakes = begun ? 1 : distance(word, candidate);
    if (mistakes >= least) continue;
    least = mistakes;
    best = candidate;
  }
  return best;
}

std::string pasted(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words.first(std::min(words.size(), kMostPasted)))
    text += " " + (word.size() <= kLongestPasted ? shell_quoted(word) : in_quotes(word));
  return text;
}

std::optional<std::string_view> behind_typeset_dash(std::string_view word) {
  // Hyphens and dashes, and the minus sign.
  constexpr std::array<std::string_view, 7> kDashes{"\u2010", "\u2011", "\u2012", "\u2013",
                                                    "\u2014", "\u2015", "\u2212"};
  const auto dash =
      std::ranges::find_if(kDashes, [&](std::string_view each) { return word.starts_with(each); });
  if (dash == kDashes.end()) return std::nullopt;
  word.remove_prefix(dash->size());
  // A word processor may turn "--" into a dash and a hyphen.
  while (word.starts_with('-')) word.remove_prefix(1);
  return word;
}

}  // namespace rlock
